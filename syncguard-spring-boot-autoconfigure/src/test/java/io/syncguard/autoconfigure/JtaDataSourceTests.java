package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.ThreadDependentDataSourceTests.assertRefused;
import static io.syncguard.autoconfigure.ThreadDependentDataSourceTests.on;
import static io.syncguard.autoconfigure.ThreadDependentDataSourceTests.opaque;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.atomikos.icatch.jta.UserTransactionManager;
import com.atomikos.jdbc.AtomikosDataSourceBean;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.xa.PGXADataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A pool for JTA makes each connection part of the transaction of the thread that uses it, at its first statement. */
@Timeout(60)
class JtaDataSourceTests {

    private static final LockRequest ORDER = LockRequest.of("order:42").waitTime(Duration.ZERO);

    @TempDir
    private static Path log;

    private static UserTransactionManager jta;

    private final TestDatabase database = TestDatabase.empty();
    private final AtomikosDataSourceBean pool = new AtomikosDataSourceBean();
    private final TransactionTemplate transactions = new TransactionTemplate(new JtaTransactionManager(jta, jta));

    @BeforeAll
    static void start() throws Exception {
        System.setProperty("com.atomikos.icatch.log_base_dir", log.toString());
        System.setProperty("com.atomikos.icatch.registered", "true");
        jta = new UserTransactionManager();
        jta.setForceShutdown(true);
        jta.init();
    }

    @AfterAll
    static void stop() {
        jta.close();
    }

    @BeforeEach
    void open() {
        database.jdbc().execute("CREATE TABLE orders (id INTEGER)");
        pool.setUniqueResourceName(database.name());
        pool.setMaxPoolSize(20);
        pool.setBorrowConnectionTimeout(5);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void locks_have_connections_of_their_own_past_the_pool() {
        pool.setXaDataSource(driver());

        run(pool, this::assertGrantIsVisibleAndStays);
    }

    @Test
    void so_have_those_of_a_pool_that_makes_its_driver_when_it_starts() throws Exception {
        Properties properties = new Properties();
        properties.setProperty("url", database.url());
        pool.setXaDataSourceClassName(PGXADataSource.class.getName());
        pool.setXaProperties(properties);
        pool.init();

        run(pool, this::assertGrantIsVisibleAndStays);
    }

    @Test
    void a_lock_in_a_transaction_is_refused_if_the_pool_cannot_be_bypassed() {
        pool.setXaDataSource(driver());
        DataSource opaque = opaque(pool::getConnection);

        run(opaque, locks -> {
            assertRefused(
                    () -> transactions.executeWithoutResult(status -> {
                        insert();
                        locks.tryAcquire(ORDER);
                    }),
                    "part of other transactions");
            assertThat(orders()).isZero();
            assertThat(database.lockedKeys()).isEmpty();

            LockHandle lock = locks.acquire(ORDER);
            assertThat(database.lockedKeys()).containsExactly("order:42");
            transactions.executeWithoutResult(status -> insert());
            lock.close();
            assertThat(orders()).isOne();
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_manager_that_is_made_in_a_transaction_is_refused_there() {
        pool.setXaDataSource(driver());
        DataSource opaque = opaque(pool::getConnection);

        on(pool).run(application -> {
            JdbcLockManagers managers = application.getBean(JdbcLockManagers.class);
            assertThatThrownBy(() -> transactions.executeWithoutResult(status -> managers.create("north", opaque)))
                    .isInstanceOf(LockSetupException.class)
                    .hasMessageContaining("part of other transactions")
                    .hasMessageContaining("@SyncGuardDataSource");
            assertThat(managers.create("north", opaque).acquire(ORDER).isHeld()).isTrue();
        });
    }

    private void assertGrantIsVisibleAndStays(LockManager locks) {
        transactions.executeWithoutResult(status -> {
            insert();
            locks.acquire(ORDER);
            assertThat(database.lockedKeys()).containsExactly("order:42");
            status.setRollbackOnly();
        });
        assertThat(orders()).isZero();
        assertThat(database.lockedKeys()).containsExactly("order:42");
    }

    private void run(DataSource dataSource, Consumer<LockManager> test) {
        on(dataSource).run(application -> test.accept(application.getBean(LockManager.class)));
    }

    private void insert() {
        new JdbcTemplate(pool).update("INSERT INTO orders VALUES (1)");
    }

    private int orders() {
        return database.jdbc().queryForObject("SELECT count(*) FROM orders", Integer.class);
    }

    private PGXADataSource driver() {
        PGXADataSource driver = new PGXADataSource();
        driver.setUrl(database.url());
        return driver;
    }
}
