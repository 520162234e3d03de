package io.syncguard.postgres;

import static io.syncguard.LockErrorCode.AUTH_FAILED;
import static io.syncguard.LockErrorCode.INTERNAL;
import static io.syncguard.LockErrorCode.INVALID_ARGUMENT;
import static io.syncguard.LockErrorCode.NETWORK_TIMEOUT;
import static io.syncguard.LockErrorCode.RATE_LIMITED;
import static io.syncguard.LockErrorCode.SCHEMA_MISSING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.LockEngine;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An error of the real server reaches the caller as one type with a code, the key and the next step. After the server
 * is repaired, the same beans work, and nothing has stayed behind.
 */
class ServerErrorsTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");
    private static final Duration NETWORK_TIMEOUT_OF_OPERATIONS = Duration.ofSeconds(2);
    private static final Duration WAIT_TIME = Duration.ofSeconds(5);

    private static TestDatabase database;
    private static String role;

    @BeforeAll
    static void makeRole() {
        database = TestDatabase.withSchema();
        role = database.newRole();
        database.jdbc()
                .execute(("GRANT ALL ON ALL TABLES IN SCHEMA public TO %1$s;"
                                + " GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO %1$s;"
                                + " REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC")
                        .formatted(role));
    }

    static Stream<Condition> conditions() {
        return Stream.of(
                new Condition("the user may not write", "REVOKE INSERT ON syncguard_locks FROM role")
                        .heals("GRANT INSERT ON syncguard_locks TO role")
                        .means(AUTH_FAILED, "42501", "GRANT INSERT ON syncguard_locks"),
                new Condition("the user may not call", "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM role")
                        .heals("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO role")
                        .means(AUTH_FAILED, "42501", "GRANT EXECUTE ON ALL ROUTINES"),
                new Condition("the user may not log in", "ALTER ROLE role NOLOGIN; " + Condition.END_SESSIONS)
                        .heals("ALTER ROLE role LOGIN")
                        .means(AUTH_FAILED, "28000", "password"),
                new Condition("too many connections", "ALTER ROLE role CONNECTION LIMIT 0; " + Condition.END_SESSIONS)
                        .heals("ALTER ROLE role CONNECTION LIMIT -1")
                        .means(RATE_LIMITED, "53300", "syncguard.postgres.pool-size"),
                new Condition("no table of locks", "ALTER TABLE syncguard_locks RENAME TO away")
                        .heals("ALTER TABLE away RENAME TO syncguard_locks")
                        .means(SCHEMA_MISSING, "42P01", "syncguard.postgres.schema-management"),
                new Condition("no table of counters", "ALTER TABLE syncguard_fence_counters RENAME TO away")
                        .heals("ALTER TABLE away RENAME TO syncguard_fence_counters")
                        .means(SCHEMA_MISSING, "42P01", "R__syncguard_schema.sql"),
                new Condition("no function", "ALTER FUNCTION syncguard_locks_acquire_free RENAME TO away")
                        .heals("ALTER FUNCTION away RENAME TO syncguard_locks_acquire_free")
                        .means(SCHEMA_MISSING, "42883", "syncguard.postgres.schema-management"),
                new Condition("no column", "ALTER TABLE syncguard_locks RENAME owner TO away")
                        .heals("ALTER TABLE syncguard_locks RENAME away TO owner")
                        .means(SCHEMA_MISSING, "42703", "syncguard.postgres.schema-management"),
                new Condition("no schema", "ALTER SCHEMA public RENAME TO away")
                        .heals("ALTER SCHEMA away RENAME TO public")
                        .means(SCHEMA_MISSING, "42883", "syncguard.postgres.locks-table"),
                new Condition("a column that is too short", "ALTER TABLE syncguard_locks ALTER owner TYPE VARCHAR(1)")
                        .heals("ALTER TABLE syncguard_locks ALTER owner TYPE TEXT")
                        .means(INVALID_ARGUMENT, "22001", "constraints"),
                new Condition(
                                "a constraint more",
                                "ALTER TABLE syncguard_locks ADD CONSTRAINT small CHECK (length(user_key) < 5)"
                                        + " NOT VALID")
                        .heals("ALTER TABLE syncguard_locks DROP CONSTRAINT small")
                        .means(INVALID_ARGUMENT, "23514", "constraints"),
                Condition.trigger("an error of somebody's own", "RAISE 'not today' USING ERRCODE = 'ZZ001'")
                        .means(INTERNAL, "ZZ001", "see the cause"),
                Condition.trigger("a full disk, by the state alone", "RAISE 'no space' USING ERRCODE = '53100'")
                        .means(RATE_LIMITED, "53100", "out of resources"),
                Condition.trigger("a statement that takes too long", "PERFORM pg_sleep(10)")
                        .means(NETWORK_TIMEOUT, "57014", "did not answer in time"),
                // The library never leaves a transaction open; a function of another user can end it like this.
                Condition.trigger("a transaction that idled", "RAISE 'idle' USING ERRCODE = '25P03'")
                        .means(NETWORK_TIMEOUT, "25P03", "did not answer in time"));
    }

    @ParameterizedTest
    @MethodSource("conditions")
    void an_acquire_says_what_is_wrong_and_works_when_it_is_right_again(Condition condition) {
        run(locks -> {
            locks.acquire(ORDER).release();
            condition.begin(locks);
            try {
                assertFails(() -> locks.acquire(ORDER), condition.code)
                        .hasMessageContainingAll("'order:1'", condition.nextStep)
                        .rootCause()
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                ex -> assertThat(ex.getSQLState()).isEqualTo(condition.state));
            } finally {
                condition.end();
            }
            assertWorks(locks);
        });
    }

    @Test
    void every_operation_says_what_is_wrong_and_names_the_key_where_it_has_one() {
        run(locks -> {
            LockHandle held = locks.acquire(ORDER);
            String unknownLockId = "unknown---------------";
            Condition noTable = new Condition("no table of locks", "ALTER TABLE syncguard_locks RENAME TO away")
                    .heals("ALTER TABLE away RENAME TO syncguard_locks");
            noTable.begin(locks);
            try {
                Stream.<ThrowingCallable>of(
                                () -> locks.acquire(ORDER),
                                () -> locks.tryAcquire(ORDER),
                                () -> new LockTemplate(locks).execute("order:1", lock -> lock),
                                () -> locks.isLocked("order:1"),
                                () -> locks.admin().lookup("order:1"),
                                () -> locks.admin().holders("order:1"),
                                () -> held.extend(Duration.ofSeconds(20)),
                                () -> locks.extend(held.lockId(), Duration.ofSeconds(20)))
                        .forEach(operation -> assertFails(operation, SCHEMA_MISSING)
                                .hasMessageContainingAll("'order:1'", "syncguard.postgres.schema-management"));
                Stream.<ThrowingCallable>of(
                                () -> locks.admin().lookupById(unknownLockId),
                                () -> locks.owns(unknownLockId),
                                () -> locks.extend(unknownLockId, Duration.ofSeconds(20)),
                                () -> locks.release(unknownLockId))
                        .forEach(operation -> assertFails(operation, SCHEMA_MISSING)
                                .hasMessageContaining("syncguard.postgres.schema-management")
                                .hasMessageNotContaining(unknownLockId));
                assertThat(held.isHeld()).isTrue();
            } finally {
                noTable.end();
            }
            assertThat(held.release()).isTrue();
            assertWorks(locks);
        });
    }

    private static AbstractThrowableAssert<?, ? extends Throwable> assertFails(
            ThrowingCallable operation, LockErrorCode code) {
        long began = System.nanoTime();
        Throwable failure = catchThrowable(operation);
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isLessThan(WAIT_TIME.plus(NETWORK_TIMEOUT_OF_OPERATIONS));
        return assertThat(failure)
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code));
    }

    /** The pool has one connection: if an error did not return it, every later operation would fail. */
    private static void assertWorks(LockManager locks) {
        await().atMost(Duration.ofSeconds(20))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> locks.acquire(ORDER).release());
        assertThat(database.lockedKeys()).isEmpty();
    }

    private static void run(Consumer<LockManager> test) {
        try (LockEngine locks = PooledPostgres.engineOnReady(
                TestDatabase.urlOf(database.url(), role), NETWORK_TIMEOUT_OF_OPERATIONS, WAIT_TIME)) {
            test.accept(locks);
        }
    }

    /** A temporary defect of the server, and what the caller of a lock is to read meanwhile. */
    private record Condition(
            String name, String breaks, String heals, LockErrorCode code, String state, String nextStep) {

        private static final String END_SESSIONS =
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'role'";

        Condition(String name, String breaks) {
            this(name, breaks, "", INTERNAL, "", "");
        }

        /** A trigger that runs these words before each grant. */
        static Condition trigger(String name, String words) {
            return new Condition(name, """
                            CREATE FUNCTION in_the_way() RETURNS TRIGGER LANGUAGE plpgsql AS
                                $$ BEGIN %s; RETURN NEW; END $$;
                            CREATE TRIGGER in_the_way BEFORE INSERT ON syncguard_locks
                                FOR EACH ROW EXECUTE FUNCTION in_the_way()
                            """.formatted(words)).heals("DROP FUNCTION in_the_way CASCADE");
        }

        Condition heals(String sql) {
            return new Condition(name, breaks, sql, code, state, nextStep);
        }

        Condition means(LockErrorCode code, String state, String nextStep) {
            return new Condition(name, breaks, heals, code, state, nextStep);
        }

        void begin(LockManager locks) {
            database.jdbc().execute(breaks.replaceAll("\\brole\\b", role));
            if (breaks.endsWith(END_SESSIONS)) {
                // A session may be starting right now and appear after the others were ended.
                await().until(() -> {
                    database.jdbc().execute(END_SESSIONS.replaceAll("\\brole\\b", role));
                    return database.sessions() == 0;
                });
                // The pool tests only connections that were idle for half a second.
                catchThrowable(() -> locks.isLocked("any"));
            }
        }

        void end() {
            database.jdbc().execute(heals.replaceAll("\\brole\\b", role));
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
