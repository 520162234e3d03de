package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An extension that is not committed when the tolerance of its lease ends: SyncGuard for TypeScript granted twice. */
class PostgresStalledExtensionTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final String MINE = "mine------------------";
    private static final String THEIRS = "theirs----------------";

    private final String url = PostgresServer.newDatabaseUrl();
    private final HikariDataSource dataSource = new HikariDataSource();
    private final OtherSession other = new OtherSession(url);
    private StoreCalls backend;

    @BeforeEach
    void open() {
        dataSource.setJdbcUrl(url);
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
        backend = new StoreCalls(new PostgresLockBackend(
                dataSource,
                dataSource,
                null,
                new PostgresSettings(
                        PostgresTables.DEFAULT,
                        Duration.ofSeconds(5),
                        PostgresSettings.WAITER_TTL,
                        Duration.ZERO,
                        false,
                        FenceSettings.from(FenceSource.COUNTER)),
                dataSource::close));
    }

    @AfterEach
    void close() {
        other.close();
        backend.close();
    }

    @BugOf("SyncGuard for TypeScript: a stalled extension beside an acquire that read the row unlocked grants twice")
    @Test
    void an_acquire_beside_it_is_refused_and_the_extension_counts() {
        backend.acquire(Requests.exclusive("k", MINE, TTL, "test"));
        extendInOtherWhileTheLeaseLapses();

        assertThat(backend.acquire(Requests.exclusive("k", THEIRS, TTL, "test")))
                .isInstanceOf(AcquireResult.Refused.class);
        other.commit();

        assertThat(backend.lookupById(MINE)).isPresent();
        assertThat(backend.acquire(Requests.exclusive("k", THEIRS, TTL, "test")))
                .isInstanceOf(AcquireResult.Refused.class);
    }

    @Test
    void an_acquire_after_it_was_undone_is_granted_and_a_second_extension_finds_nothing() {
        backend.acquire(Requests.exclusive("k", MINE, TTL, "test"));
        extendInOtherWhileTheLeaseLapses();
        other.rollback();

        assertThat(backend.acquire(Requests.exclusive("k", THEIRS, TTL, "test")))
                .isInstanceOf(AcquireResult.Granted.class);

        assertThat(backend.extendAll(List.of(Requests.extension(MINE, TTL))).get(0))
                .isNotInstanceOfAny(ExtendResult.Extended.class, ExtendResult.Busy.class);
        assertThat(backend.lookupById(THEIRS)).isPresent();
    }

    /** The lease has three tenths of a second left, tolerance included, when it is extended. */
    private void extendInOtherWhileTheLeaseLapses() {
        Awaitility.await("an extension in time").ignoreExceptions().until(() -> {
            other.rollback();
            other.jdbc().update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 700");
            // The extension fails if it comes too late.
            other.run("SELECT 1 / (SELECT count(*) FROM syncguard_locks_extend(ARRAY['" + MINE
                    + "'], ARRAY[30000]) WHERE outcome = 'extended')");
            return true;
        });
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(10))
                .until(() -> !backend.isLocked("k"));
    }
}
