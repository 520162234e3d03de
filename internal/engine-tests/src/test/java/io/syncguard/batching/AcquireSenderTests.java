package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.MessageText;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.RequestNotSentException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({
        "SERVICE_UNAVAILABLE, SERVICE_UNAVAILABLE, the requests before it failed: connection refused",
        "NETWORK_TIMEOUT, NETWORK_TIMEOUT, the requests before it failed: connection refused",
        "INVALID_ARGUMENT, RATE_LIMITED, the requests before it took too long. Look for long locks"
    })
    void a_caller_behind_an_outage_reads_its_reason_and_not_that_locks_are_long(
            LockErrorCode before, LockErrorCode own, String message) {
        LockBackendException last =
                new LockBackendException(before, "Failed while acquiring 3 lock(s): connection refused", null);

        assertThat(sender.notSent(Requests.exclusive("left", "left", TTL, "test"), last))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessageContaining(message)
                .returns(own, failure -> ((LockBackendException) failure).code());
    }

    @ParameterizedTest
    @CsvSource({
        "false, the requests before it took too long, is the timeout of the store 'memory'",
        "true, the server did not answer in time, is twice the timeout of the store 'memory'"
    })
    void a_caller_who_leaves_reads_how_long_it_has_waited(boolean sent, String reason, String limit) {
        Duration timeout = calls.info().timeout();

        assertThat(sender.timedOut(Requests.exclusive("left", "left", TTL, "test"), sent))
                .hasMessageContainingAll(
                        reason,
                        "The limit of " + MessageText.of(sent ? timeout.multipliedBy(2) : timeout) + " " + limit);
    }
}
