package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A lease that is shortened also wakes the first writer behind waiting readers: no later event would wake it when these
 * readers have been granted and released.
 */
class PostgresFirstWriterTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final LockIds lockIds = new LockIds();
    private final List<Long> woken = new CopyOnWriteArrayList<>();
    private final StoreCalls backend = ApplicationBackend.on(PostgresServer.newDatabaseUrl());

    @BeforeEach
    void connect() {
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
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void by_a_reader_that_entered_before_its_neighbour() {
        AcquireRequest held = request(LockMode.EXCLUSIVE);
        AcquireRequest reader = request(LockMode.SHARED);
        backend.acquire(held);
        backend.acquire(reader.waitingAs(1));
        backend.acquire(request(LockMode.SHARED).waitingAs(2));
        backend.acquire(request(LockMode.EXCLUSIVE).waitingAs(3));
        backend.acquire(request(LockMode.EXCLUSIVE).waitingAs(4));
        eventually().until(backend::isConnected);
        backend.release(held.lockId());
        assertThat(backend.acquire(reader.waitingAs(1))).isInstanceOf(AcquireResult.Granted.class);
        eventually().untilAsserted(() -> assertThat(woken).containsExactlyInAnyOrder(1L, 2L));

        backend.extend(List.of(Requests.extension(reader.lockId(), Duration.ofMillis(1))));

        eventually().untilAsserted(() -> assertThat(woken).containsExactlyInAnyOrder(1L, 2L, 2L, 3L));
    }

    private AcquireRequest request(LockMode mode) {
        return Requests.of("order:42", mode, 0, lockIds.next(), HOUR, "test", false, false, null);
    }
}
