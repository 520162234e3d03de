package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Callers and the threads of the engine have connections of their own: neither can starve the other. */
class PostgresConnectionUseTests {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final AcquireRequest HELD = Requests.exclusive("held", "A".repeat(22), TTL, "test");
    private static final AcquireRequest WAITING =
            Requests.exclusive("held", "B".repeat(22), TTL, "test").waitingAs(1);

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource callers = poolOfOne();
    private final HikariDataSource engine = poolOfOne();
    private StoreCalls backend;

    @BeforeEach
    void open() {
        new PostgresSchema(PostgresServer.dataSource(url), PostgresTables.DEFAULT).initialize();
        backend = new StoreCalls(new PostgresLockBackend(
                callers,
                engine,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                () -> {}));
        assertThat(backend.acquire(HELD)).isInstanceOf(AcquireResult.Granted.class);
        assertThat(backend.acquire(WAITING)).isInstanceOf(AcquireResult.Queued.class);
    }

    @AfterEach
    void close() {
        backend.close();
        callers.close();
        engine.close();
    }

    @Test
    void heartbeats_looks_and_late_releases_go_on_while_callers_have_used_up_their_connections() throws SQLException {
        try (Connection taken = callers.getConnection()) {
            assertThat(taken.isValid(1)).isTrue();

            assertThat(backend.extendAll(List.of(extension()))).allMatch(ExtendResult.Extended.class::isInstance);
            assertThat(backend.renewWaiters(List.of(WAITING.keyedLockId()))).noneMatch(Duration::isZero);
            assertThat(backend.releaseAll(List.of(WAITING.keyedLockId()))).containsExactly(ReleaseResult.LEFT);

            Stream.<ThrowingCallable>of(
                            () -> backend.acquire(HELD),
                            () -> backend.extend(extension()),
                            () -> backend.rotate(extension()),
                            () -> backend.release(HELD.lockId()))
                    .forEach(PostgresConnectionUseTests::assertNotSent);
        }
    }

    @Test
    void callers_go_on_while_the_engine_has_used_up_its_connections() throws SQLException {
        try (Connection taken = engine.getConnection()) {
            assertThat(taken.isValid(1)).isTrue();

            assertThat(backend.extend(extension())).isInstanceOf(ExtendResult.Extended.class);
            assertThat(backend.rotate(extension())).isInstanceOf(ExtendResult.Rotated.class);
            assertThat(backend.release(HELD.lockId())).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    private static ExtendRequest extension() {
        return Requests.extension(HELD.lockId(), TTL);
    }

    private static void assertNotSent(ThrowingCallable call) {
        assertThatExceptionOfType(RequestNotSentException.class)
                .isThrownBy(call)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.RATE_LIMITED));
    }

    private HikariDataSource poolOfOne() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(1);
        pool.setConnectionTimeout(250);
        return pool;
    }
}
