package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockHandle;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A database with locks and a stock of apples, which is empty before each test, and applications whose transactions
 * change it.
 */
final class StockDatabase implements BeforeEachCallback {

    private final TestDatabase database = TestDatabase.withSchema();

    final LockAudit audit = new LockAudit(database);

    StockDatabase() {
        jdbc().execute("CREATE TABLE stock (item TEXT PRIMARY KEY, amount INTEGER NOT NULL)");
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        // The server may still run a statement of an application that was stopped.
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(database.describedSessions()).isEmpty());
        jdbc().execute("TRUNCATE lock_audit, stock, syncguard_locks, syncguard_locks_shared, syncguard_fence_counters");
        jdbc().execute("INSERT INTO stock VALUES ('apple', 0)");
    }

    void run(Consumer<ApplicationContext> test) {
        runner().run(test::accept);
    }

    ApplicationContextRunner runner(String... properties) {
        return Applications.on(database.url())
                .withPropertyValues("syncguard.shutdown-timeout=100ms")
                .withPropertyValues(properties);
    }

    static void inTransaction(ApplicationContext application, Consumer<JdbcTemplate> work) {
        application
                .getBean(TransactionTemplate.class)
                .executeWithoutResult(transaction -> work.accept(application.getBean(JdbcTemplate.class)));
    }

    /** Lets the lease of a lock without a heartbeat lapse, so that its handle is lost. */
    static void lapse(LockHandle lock) {
        lock.extend(Duration.ofMillis(1));
        await().atMost(Duration.ofSeconds(10)).until(() -> !lock.isHeld());
    }

    /** Creates a role that may log in and has no other rights. */
    String newRole() {
        return database.newRole();
    }

    HikariDataSource as(String role) {
        HikariDataSource pool = new HikariDataSource();
        pool.setMaximumPoolSize(2);
        String[] login = TestDatabase.loginOf(database.url(), role);
        pool.setJdbcUrl(login[0].substring(login[0].indexOf('=') + 1));
        pool.setUsername(login[1].substring(login[1].indexOf('=') + 1));
        pool.setPassword(login[2].substring(login[2].indexOf('=') + 1));
        return pool;
    }

    DataSource dataSource() {
        return PostgresServer.dataSource(database.url());
    }

    String url() {
        return database.url();
    }

    /** Access to the database without the library and the applications. */
    JdbcTemplate jdbc() {
        return database.jdbc();
    }

    /** The leases that are stored at the server. */
    List<String> lockedKeys() {
        return database.lockedKeys();
    }

    /** Returns the committed number of apples. */
    int amount() {
        return jdbc().queryForObject("SELECT amount FROM stock WHERE item = 'apple'", Integer.class);
    }
}
