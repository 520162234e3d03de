package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The source of the fences belongs to the tables: it may change from counters to the clock, and not back. */
class FenceSourceTests {

    /** A fence that the clock gave in the year 1973. */
    private static final long THE_CLOCK = 10_000_000_000_000L;

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void the_change_to_the_clock_reaches_processes_that_run_already_and_no_fence_is_smaller() {
        try (StoreCalls before = PooledPostgres.on(database.url())) {
            // Enough for the server to choose a plan that it keeps.
            for (int i = 1; i < 12; i++) {
                assertThat(fence(before)).isEqualTo(i);
            }
            schema(FenceSource.CLOCK).initialize();

            long first = fence(before);
            assertThat(first).isGreaterThan(THE_CLOCK);
            assertThat(fence(before)).isGreaterThan(first);
        }
    }

    @Test
    void the_change_back_is_refused() {
        schema(FenceSource.CLOCK).initialize();

        PostgresSchema counters = schema(FenceSource.COUNTER);
        for (ThrowingCallable start : List.<ThrowingCallable>of(counters::initialize, counters::check)) {
            assertThatThrownBy(start)
                    .isInstanceOfSatisfying(
                            LockException.class,
                            failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll(
                            "syncguard.fences is counter", "would begin at 1 again", "Set syncguard.fences=clock");
        }

        schema(FenceSource.CLOCK).check();
    }

    private PostgresSchema schema(FenceSource fences) {
        return new PostgresSchema(PostgresServer.dataSource(database.url()), PostgresTables.DEFAULT, fences);
    }

    private static long fence(StoreCalls store) {
        AcquireRequest request = Requests.exclusive("order:1", Requests.newLockId(), Duration.ofMinutes(1), "test");
        AcquireResult result = store.acquire(request);
        store.release(request.lockId());
        return ((AcquireResult.Granted) result).fence().value();
    }
}
