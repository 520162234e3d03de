package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A shortened lease wakes only the first waiter. If that one leaves before it can be granted the key, the next is
 * woken: it would otherwise sleep until the former end of the lease.
 */
class PostgresShortenedLeaseTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final LockIds lockIds = new LockIds();
    private final List<Long> woken = new CopyOnWriteArrayList<>();
    private final StoreCalls backend = ApplicationBackend.on(PostgresServer.newDatabaseUrl());
    private final AcquireRequest first = request();

    @BeforeEach
    void shortenWhileTwoWait() {
        backend.connect(new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        });
        AcquireRequest held = request();
        backend.acquire(held);
        backend.acquire(first.waitingAs(1));
        backend.acquire(request().waitingAs(2));
        eventually().until(backend::isConnected);
        backend.extend(List.of(Requests.extension(held.lockId(), Duration.ofMillis(1))));
        eventually().untilAsserted(() -> assertThat(woken).containsExactly(1L));
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void by_one_who_leaves() {
        assertThat(backend.release(first.lockId())).isEqualTo(ReleaseResult.LEFT);

        eventually().untilAsserted(() -> assertThat(woken).containsExactly(1L, 2L));
    }

    @Test
    void by_one_who_tries_for_the_last_time() {
        assertThat(backend.acquire(first)).isInstanceOf(AcquireResult.Refused.class);

        eventually().untilAsserted(() -> assertThat(woken).containsExactly(1L, 2L));
    }

    private AcquireRequest request() {
        return Requests.exclusive("order:42", lockIds.next(), HOUR, "test");
    }
}
