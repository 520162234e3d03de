package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AcquireSenderTests {

    private static final Duration TTL = Duration.ofMinutes(1);

    private final InMemoryStore store = new InMemoryStore();
    private final StoreCalls calls = new StoreCalls(new InMemoryLockBackend(store));
    private final AcquireSender sender = new AcquireSender(calls);

    /** After an error it goes on, and may have been handed the key under its lock id meanwhile. */
    @Test
    void a_caller_that_had_an_entry_before_keeps_it_and_another_does_not() {
        calls.acquire(Requests.exclusive("left", "holds", TTL, "test"));
        AcquireRequest old = Requests.exclusive("left", "old", TTL, "test").waitingAs(1);
        AcquireRequest late = Requests.exclusive("left", "late", TTL, "test").waitingAs(2);
        AcquireResult entry = calls.acquire(old);
        calls.acquire(late);

        sender.unclaimed(Map.of(old.fromQueue(), entry));
        sender.unclaimed(Map.of(late, entry));

        assertThat(store.queue("left")).containsExactly("old");
    }

    @Test
    void a_grant_whose_caller_has_left_is_released() {
        AcquireRequest left = Requests.exclusive("left", "left", TTL, "test");

        sender.unclaimed(Map.of(left, calls.acquire(left)));

        assertThat(calls.isLocked("left")).isFalse();
    }
}
