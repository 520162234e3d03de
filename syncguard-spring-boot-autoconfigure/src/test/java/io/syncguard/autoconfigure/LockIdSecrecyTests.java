package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.LockBackendException;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.Requests;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Only the server and the holder see lock ids, whatever happens to locks. The test takes all ids from the wire,
 * including those of failed attempts; it leaves out the driver's own trace of the wire.
 */
class LockIdSecrecyTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ofMillis(100));

    private static final Pattern LOCK_ID = Pattern.compile("(?<![\\w-])[\\w-]{22}(?![\\w-])");

    /** Every grant violates it. The server's detail quotes the row, or the lock id alone. */
    private static final String CHECK = "ALTER TABLE syncguard_locks ADD CONSTRAINT never CHECK (fence = '') NOT VALID";

    private static final String UNIQUE = """
            CREATE FUNCTION twice() RETURNS TRIGGER LANGUAGE plpgsql AS $$
            BEGIN
                IF pg_trigger_depth() = 1 THEN
                    INSERT INTO syncguard_locks VALUES ('twin', NEW.lock_id, 0, 0, '1', 'twin', '');
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER twice BEFORE INSERT ON syncguard_locks FOR EACH ROW EXECUTE FUNCTION twice()
            """;

    /** An audit of the application may do this. */
    private static final String AUDIT = """
            CREATE FUNCTION audit() RETURNS TRIGGER LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'no audit of %', NEW USING DETAIL = NEW.lock_id, HINT = 'see "' || NEW.lock_id || '"';
            END $$;
            CREATE TRIGGER audit BEFORE INSERT ON syncguard_locks FOR EACH ROW EXECUTE FUNCTION audit()
            """;

    private final TestDatabase database = TestDatabase.withSchema();
    private final PostgresProxy proxy = new PostgresProxy(database.url());
    private final Set<String> lockIds = ConcurrentHashMap.newKeySet();
    private final VisibleTexts visible = new VisibleTexts();
    private String role;

    @BeforeEach
    void listen() {
        role = database.newRole();
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
        // Makes the server quote parameters in its errors, where it can.
        if (!database.jdbc()
                .queryForList("SELECT FROM pg_settings WHERE name = 'log_parameter_max_length_on_error'")
                .isEmpty()) {
            database.jdbc().execute("ALTER ROLE " + role + " SET log_parameter_max_length_on_error = -1");
        }
        proxy.watchParameters(parameters -> LOCK_ID.matcher(parameters)
                .results()
                .map(MatchResult::group)
                .filter(each -> !each.equals(PostgresTables.DEFAULT.shared()))
                .forEach(lockIds::add));
        visible.listen();
    }

    @AfterEach
    void close() {
        visible.close();
        proxy.close();
    }

    @Test
    void no_operation_reveals_a_lock_id() {
        runner().run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            loseAnAnswer(locks);
            useByHandle(locks);
            useById(locks);
            meetErrors(locks);
            meetAnEndOfTheSession(locks);
            lose(locks);
            failToRelease(locks);
            visible.add(locks.acquire(ORDER.key("held to the end")));
            application.getBean(MeterRegistry.class).getMeters().forEach(meter -> visible.add(meter.getId()));
            Thread.getAllStackTraces().keySet().forEach(visible::add);
        });

        assertThat(lockIds).hasSizeGreaterThan(10);
        assertNoLockIdIsVisible();
    }

    @Test
    void a_data_source_that_lends_its_connections_reveals_none_either() {
        AbstractRoutingDataSource lends = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "one";
            }
        };
        lends.setTargetDataSources(Map.of("one", PostgresServer.dataSource(proxy.url())));
        lends.afterPropertiesSet();

        Applications.withoutDatabase().withBean(DataSource.class, () -> lends).run(application -> {
            database.jdbc().execute(CHECK);
            visible.add(
                    catchThrowable(() -> application.getBean(LockManager.class).acquire(ORDER)));
        });

        assertThat(lockIds).isNotEmpty();
        assertNoLockIdIsVisible();
    }

    @Test
    void our_sessions_do_not_let_the_server_quote_parameters() {
        runner().run(application -> {
            database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");
            Throwable failure =
                    catchThrowable(() -> application.getBean(LockManager.class).acquire(ORDER));
            assertThat(failure)
                    .cause()
                    .isInstanceOfSatisfying(
                            PSQLException.class,
                            ex -> visible.add(ex.getServerErrorMessage().getWhere()));
        });

        assertThat(lockIds).isNotEmpty();
        assertNoLockIdIsVisible();
    }

    @Test
    void the_text_of_a_request_shows_none() {
        String lockId = "lock-id---------------";
        lockIds.add(lockId);
        visible.add(Requests.exclusive("order:1", lockId, Duration.ofSeconds(1), "test"));
        visible.add(List.of(Requests.extension(lockId, Duration.ofSeconds(1))));

        assertNoLockIdIsVisible();
    }

    private void loseAnAnswer(LockManager locks) {
        proxy.loseAnswerTo("syncguard_locks_acquire");
        addFailure(() -> locks.acquire(ORDER));
        acquire(locks).release();
    }

    private void useByHandle(LockManager locks) {
        LockHandle lock = locks.acquire(ORDER);
        assertThat(lockIds).as("seen on the wire").contains(lock.lockId());
        visible.add(lock);
        visible.add(lock.request());
        visible.add(locks.admin().lookup("order:1"));
        visible.add(locks.admin().holders("order:1"));
        addFailure(() -> locks.acquire(ORDER));
        visible.add(lock.extend(Duration.ofSeconds(20)));
        visible.add(lock.rotateFence());
        new LockTemplate(locks).execute(lock, held -> {
            visible.add(locks.acquire(ORDER));
            return held;
        });
        visible.add(lock);
    }

    private void useById(LockManager locks) {
        LockHandle lock = locks.acquire(ORDER);
        String unknownLockId = "unknown---------------";
        for (String lockId : List.of(lock.lockId(), unknownLockId)) {
            visible.add(locks.admin().lookupById(lockId));
            visible.add(locks.owns(lockId));
            visible.add(locks.extend(lockId, Duration.ofSeconds(20)));
            addFailure(() -> locks.release(lockId + "x"));
            addFailure(() -> locks.extend(lockId + "x", Duration.ofSeconds(20)));
            addFailure(() -> locks.admin().lookupById(lockId + "x"));
            visible.add(locks.release(lockId));
        }
    }

    private void meetErrors(LockManager locks) {
        LockHandle lock = locks.acquire(ORDER.key("order:2"));
        database.jdbc().execute(CHECK);
        addFailure(() -> locks.acquire(ORDER));
        addFailure(() -> lock.extend(Duration.ofSeconds(20)));
        addFailure(() -> locks.extend(lock.lockId(), Duration.ofSeconds(20)));
        addFailure(lock::rotateFence);
        database.jdbc().execute("ALTER TABLE syncguard_locks DROP CONSTRAINT never");
        database.jdbc().execute(UNIQUE);
        assertThat(addFailure(() -> locks.acquire(ORDER))).hasStackTraceContaining("duplicate key");
        database.jdbc().execute("DROP FUNCTION twice CASCADE");
        database.jdbc().execute(AUDIT);
        assertThat(addFailure(() -> locks.acquire(ORDER))).hasStackTraceContaining("no audit of");
        database.jdbc().execute("DROP FUNCTION audit CASCADE");
        database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");
        addFailure(() -> locks.acquire(ORDER));
        addFailure(() -> locks.admin().lookupById(lock.lockId()));
        addFailure(() -> locks.release("unknown---------------"));
        database.jdbc().execute("ALTER TABLE away RENAME TO syncguard_locks");
        lock.release();
    }

    /** The pool logs errors that break a connection. */
    private void meetAnEndOfTheSession(LockManager locks) throws SQLException {
        acquire(locks).release();
        String waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        try (Connection other = database.jdbc().getDataSource().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM syncguard_fence_counters FOR UPDATE");
            CompletableFuture<Throwable> failure =
                    CompletableFuture.supplyAsync(() -> catchThrowable(() -> locks.acquire(ORDER)));
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> !database.jdbc()
                            .queryForList("SELECT pg_terminate_backend(pid) " + waiting)
                            .isEmpty());
            visible.add(failure.join());
            database.jdbc()
                    .queryForList("SELECT query FROM pg_stat_activity WHERE datname = current_database()", String.class)
                    .forEach(visible::add);
        }
    }

    private void lose(LockManager locks) {
        LockHandle lock = acquire(locks);
        lock.onLost(() -> {
            throw new IllegalStateException("a callback that fails");
        });
        database.jdbc().execute("DELETE FROM syncguard_locks");
        visible.add(lock.extend(Duration.ofSeconds(20)));
        visible.add(lock);
        addFailure(lock::close);
    }

    private void failToRelease(LockManager locks) {
        LockHandle lock = acquire(locks);
        database.jdbc()
                .execute("ALTER PROCEDURE syncguard_locks_hand_over(text, text, text, boolean, bigint, text, bigint[])"
                        + " RENAME TO away");
        visible.add(lock.release());
        visible.add(lock);
        database.jdbc().execute("ALTER PROCEDURE away RENAME TO syncguard_locks_hand_over");
        await().atMost(Duration.ofSeconds(10)).until(() -> database.lockedKeys().isEmpty());
    }

    private Throwable addFailure(ThrowingCallable operation) {
        Throwable failure = catchThrowable(operation);
        assertThat(failure).isInstanceOf(LockException.class);
        visible.add(failure);
        // A reporter of errors may read more of an exception than its text.
        if (failure.getCause() instanceof PSQLException ex && ex.getServerErrorMessage() != null) {
            ServerErrorMessage message = ex.getServerErrorMessage();
            visible.add(Arrays.asList(
                    message.getDetail(), message.getWhere(), message.getHint(), message.getInternalQuery()));
        }
        return failure;
    }

    /** Repeats the call: the pool may be short of connections after the errors before. */
    private static LockHandle acquire(LockManager locks) {
        return await().atMost(Duration.ofSeconds(10))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> locks.tryAcquire(ORDER), lock -> lock != null);
    }

    private void assertNoLockIdIsVisible() {
        assertThat(visible.all()).isNotEmpty();
        List<String> leaks = visible.all().stream()
                .filter(text -> lockIds.stream().anyMatch(text::contains))
                .map(this::withoutLockIds)
                .toList();
        assertThat(leaks).isEmpty();
    }

    private String withoutLockIds(String text) {
        return lockIds.stream().reduce(text, (each, lockId) -> each.replace(lockId, "<lock id>"));
    }

    private ApplicationContextRunner runner() {
        return Applications.on(proxy.url())
                .withPropertyValues(TestDatabase.loginOf(proxy.url(), role))
                .withPropertyValues(
                        "syncguard.owner=tester",
                        "syncguard.postgres.schema-management=none",
                        "syncguard.postgres.network-timeout=4s",
                        "syncguard.shutdown-timeout=0s")
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(VisibleTexts.FailingListener.class, () -> new VisibleTexts.FailingListener(visible));
    }
}
