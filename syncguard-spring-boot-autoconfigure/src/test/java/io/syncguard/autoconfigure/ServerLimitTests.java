package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A server ends a statement at a limit, and the message says which. */
class ServerLimitTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").ttl(Duration.ofSeconds(30));

    @Test
    void for_locks_in_the_functions_of_postgresql() {
        String url = PostgresServer.newDatabaseUrl();
        names(
                Applications.on(url).withPropertyValues("syncguard.postgres.network-timeout=1s"),
                url,
                "LOCK TABLE syncguard_locks IN ACCESS EXCLUSIVE MODE",
                "SyncGuard sets lock_timeout to 400ms, a part of half of syncguard.postgres.network-timeout");
    }

    @Test
    void for_statements_on_postgresql() {
        String url = PostgresServer.newDatabaseUrl();
        Applications.on(url)
                .withPropertyValues("syncguard.postgres.network-timeout=1s")
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    new JdbcTemplate(new DriverManagerDataSource(url)).execute("""
                            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                            'BEGIN PERFORM pg_sleep(10); RETURN NEW; END';
                            CREATE TRIGGER slow BEFORE INSERT OR UPDATE ON syncguard_locks
                            FOR EACH ROW EXECUTE FUNCTION slow()
                            """);
                    assertThatThrownBy(() -> locks.acquire(ORDER))
                            .isInstanceOf(LockBackendException.class)
                            .hasMessageContaining("SyncGuard sets statement_timeout to 450ms");
                });
    }

    @Test
    void for_locks_in_tables_on_postgresql() {
        String url = PostgresServer.newDatabaseUrl();
        names(
                Applications.on(url).withPropertyValues("syncguard.backend=jdbc", "syncguard.jdbc.network-timeout=1s"),
                url,
                "LOCK TABLE syncguard_keys IN ACCESS EXCLUSIVE MODE",
                "lock_timeout, which SyncGuard sets to 400ms: four fifths of half of syncguard.jdbc.network-timeout");
    }

    @Test
    void for_statements_of_an_application_on_postgresql() {
        String url = PostgresServer.newDatabaseUrl();
        names(
                Applications.on(url + (url.contains("?") ? "&" : "?") + "options=-c%20statement_timeout=200")
                        .withPropertyValues("syncguard.backend=jdbc"),
                url,
                "LOCK TABLE syncguard_keys IN ACCESS EXCLUSIVE MODE",
                "statement_timeout, which the server, its user or spring.datasource.url sets");
    }

    @Test
    void for_locks_on_mariadb() {
        String url = MariaDbServer.newDatabaseUrl();
        names(
                Applications.on(url).withPropertyValues("syncguard.jdbc.network-timeout=4s"),
                url,
                "SELECT * FROM syncguard_keys FOR UPDATE",
                "innodb_lock_wait_timeout, which SyncGuard sets to 1s");
    }

    @Test
    void for_statements_of_an_application_on_mariadb() {
        String url = MariaDbServer.newDatabaseUrl();
        names(
                Applications.on(url + (url.contains("?") ? "&" : "?") + "sessionVariables=max_statement_time=0.2")
                        .withPropertyValues("syncguard.jdbc.network-timeout=4s"),
                url,
                "SELECT * FROM syncguard_keys FOR UPDATE",
                "max_statement_time, which the server, its user or spring.datasource.url sets");
    }

    private static void names(ApplicationContextRunner runner, String url, String blocking, String words) {
        runner.run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            locks.acquire(ORDER).release();
            try (Connection other = DriverManager.getConnection(url);
                    Statement statement = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute(blocking);
                assertThatThrownBy(() -> locks.acquire(ORDER))
                        .isInstanceOf(LockBackendException.class)
                        .hasMessageContaining(words);
                other.rollback();
            }
        });
    }
}
