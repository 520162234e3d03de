package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A writer waiting for several readers looks when the first of their leases ends by its expiry: no release wakes the
 * writer at that time if the other readers left while that lease was live.
 */
class PostgresNextLookTests {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);

    private final LockIds lockIds = new LockIds();
    private final StoreCalls backend = ApplicationBackend.on(PostgresServer.newDatabaseUrl());
    private final AcquireRequest writer =
            Requests.exclusive("order:42", lockIds.next(), HOUR, "test").waitingAs(1);

    @BeforeEach
    void read() {
        backend.acquire(Requests.shared("order:42", lockIds.next(), MINUTE, "test"));
        backend.acquire(Requests.shared("order:42", lockIds.next(), HOUR, "test"));
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void after_it_has_queued() {
        assertThat(backend.acquire(writer))
                .isInstanceOfSatisfying(
                        AcquireResult.Queued.class,
                        queued -> assertThat(queued.nextLook()).isLessThan(MINUTE.multipliedBy(2)));
    }

    @Test
    void after_its_queue_entry_was_renewed() {
        backend.acquire(writer);

        assertThat(backend.renewWaiters(List.of(writer.keyedLockId())).get(0))
                .isPositive()
                .isLessThan(MINUTE.multipliedBy(2));
    }
}
