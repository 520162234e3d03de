package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.LockAudit;
import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.LockEngine;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings that an administrator may have made the defaults of a role. */
class RoleDefaultsTests {

    private static TestDatabase database;
    private static LockAudit audit;
    private static String role;

    @BeforeAll
    static void makeRole() {
        database = TestDatabase.withSchema();
        audit = new LockAudit(database);
        role = database.newRole();
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
    }

    @AfterAll
    static void forgetDefaults() {
        database.jdbc().execute("ALTER ROLE " + role + " RESET ALL");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "default_transaction_isolation = 'serializable'",
                "default_transaction_isolation = 'repeatable read'",
                "default_transaction_read_only = on",
                "default_transaction_deferrable = on",
                "synchronous_commit = off",
                "synchronous_commit = local",
                // The first statement of a session, which sets our limit, still has that of the role.
                "statement_timeout = '100ms'",
                "lock_timeout = '1ms'",
                "idle_session_timeout = '10s'",
                "transaction_timeout = '1min'",
                "idle_in_transaction_session_timeout = '1ms'",
                "standard_conforming_strings = off",
                "quote_all_identifiers = on",
                "array_nulls = off",
                "search_path = public, pg_catalog"
            })
    void our_connections_work_and_grants_are_durable(String setting) {
        assumeTrue(isKnown(setting), "this version of the server has the setting");
        database.jdbc().execute("TRUNCATE lock_audit");
        database.jdbc().execute("ALTER ROLE " + role + " RESET ALL");
        database.jdbc().execute("ALTER ROLE " + role + " SET " + setting);

        String url = TestDatabase.urlOf(database.url(), role);
        try (LockEngine locks = PooledPostgres.engineOnReady(url, Duration.ofSeconds(5), Duration.ZERO)) {
            LockHandle lock = locks.acquire(LockRequest.of("order:1"));
            assertThat(lock.extend(Duration.ofSeconds(20))).isTrue();
            assertThat(locks.tryAcquire(LockRequest.of("order:1"))).isNull();
            assertThat(lock.release()).isTrue();
        }

        assertThat(audit.of("order:1"))
                .extracting(LockAudit.Entry::operation, LockAudit.Entry::synchronousCommit)
                .as("the release alone need not wait for the disk")
                .containsExactly(tuple("INSERT", "on"), tuple("UPDATE", "on"), tuple("DELETE", "off"));
        assertThat(audit.of("order:1")).allSatisfy(entry -> {
            assertThat(entry.isolation()).isEqualTo("read committed");
            assertThat(entry.readOnly()).isEqualTo("off");
            assertThat(entry.statementTimeout()).isEqualTo("2250ms");
            assertThat(entry.lockTimeout()).isEqualTo("2s");
            assertThat(entry.sessionLimits()).isEqualTo("idle 0, transaction 0");
        });
    }

    private static boolean isKnown(String setting) {
        return !database.jdbc()
                .queryForList("SELECT FROM pg_settings WHERE name = ?", setting.split(" ")[0])
                .isEmpty();
    }
}
