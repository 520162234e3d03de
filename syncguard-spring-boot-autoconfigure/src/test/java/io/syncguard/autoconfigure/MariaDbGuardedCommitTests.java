package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.MariaDbServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions on MariaDB commit only while the locks are held under which they run. */
class MariaDbGuardedCommitTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private final String url = MariaDbServer.newDatabaseUrl();
    private final JdbcTemplate database = new JdbcTemplate(new DriverManagerDataSource(url));

    @BeforeEach
    void createTable() {
        database.execute("CREATE TABLE stock (amount INT) ENGINE = InnoDB");
    }

    @Test
    void a_transaction_whose_lock_was_taken_over_is_rolled_back() {
        Applications.on(url)
                .run(application -> Applications.on(url)
                        .run(other -> assertThatThrownBy(() -> locks(application)
                                        .execute(ORDER, lock -> {
                                            add(application, () -> {
                                                database.update("UPDATE syncguard_leases SET expires_at = 0");
                                                assertThat(other.getBean(LockManager.class)
                                                                .tryAcquire(ORDER))
                                                        .isNotNull();
                                                assertThat(lock.isHeld())
                                                        .as("the holder does not know it")
                                                        .isTrue();
                                            });
                                            return lock;
                                        }))
                                .isInstanceOf(LockLostException.class)));
        assertThat(amount()).isZero();
    }

    @Test
    void a_transaction_under_a_held_lock_may_require_the_guard() {
        Applications.on(url)
                .withPropertyValues("syncguard.commit-guard=required")
                .run(application -> locks(application).execute(ORDER, lock -> {
                    add(application, () -> {});
                    return lock;
                }));
        assertThat(amount()).isEqualTo(1);
    }

    private static LockTemplate locks(ApplicationContext application) {
        return application.getBean(LockTemplate.class);
    }

    private static void add(ApplicationContext application, Runnable meanwhile) {
        new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
                .executeWithoutResult(transaction -> {
                    application.getBean(JdbcTemplate.class).update("INSERT INTO stock VALUES (1)");
                    meanwhile.run();
                });
    }

    private Integer amount() {
        return database.queryForObject("SELECT COUNT(*) FROM stock", Integer.class);
    }
}
