package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.CommitGuard;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.PostgresServer;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** Which transactions are on the database of the locks, and what happens to the others. */
class RecognisedDatabaseTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private static final LockRequest REQUIRED = ORDER.commitGuard(CommitGuard.REQUIRED);

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private final StockDatabase database = commits.database;

    @Test
    void another_data_source_on_the_same_database_is_recognised() {
        isGuarded(PostgresServer.dataSource(database.url() + "&ApplicationName=other"));
    }

    @Test
    void one_with_another_search_path_is_recognised() {
        database.jdbc().execute("CREATE SCHEMA IF NOT EXISTS elsewhere");
        isGuarded(PostgresServer.dataSource(database.url() + "&currentSchema=elsewhere"));
    }

    @Test
    void proxies_of_spring_are_recognised() {
        DataSource plain = PostgresServer.dataSource(database.url());
        isGuarded(new TransactionAwareDataSourceProxy(plain));
        isGuarded(new LazyConnectionDataSourceProxy(plain));
    }

    @Test
    void one_that_routes_is_judged_by_the_connection_of_each_transaction() {
        Routing routing = new Routing(database.url(), PostgresServer.newDatabaseUrl());
        routing.target = "locks";
        isGuarded(routing);
        routing.target = "other";
        isNotGuarded(routing);
        refuses(routing, "another database");
    }

    @Test
    void another_database_of_the_same_server_is_not_the_one_of_the_locks() {
        DataSource other = PostgresServer.dataSource(PostgresServer.newDatabaseUrl());
        isNotGuarded(other);
        refuses(other, "another database");
    }

    @Test
    void a_database_of_another_kind_is_not_the_one_of_the_locks() {
        HikariDataSource h2 = new HikariDataSource();
        h2.setJdbcUrl("jdbc:h2:mem:other");
        try (h2) {
            isNotGuarded(h2);
            refuses(h2, "H2");
        }
    }

    @Test
    void a_user_who_may_not_lock_the_rows_is_named_as_the_reason() {
        HikariDataSource limited = database.as(database.newRole());
        try (limited) {
            isNotGuarded(limited);
            refuses(limited, "may not lock the rows");
        }
    }

    @Test
    void a_transaction_manager_without_a_connection_is_not_guarded() {
        with(new NoResource(), application -> {
            transaction(application).executeWithoutResult(status -> {});
            locks(application).execute(ORDER, lock -> {
                transaction(application).executeWithoutResult(status -> {});
                return lock;
            });
            isRefused(
                    () -> locks(application).execute(REQUIRED, lock -> {
                        transaction(application).executeWithoutResult(status -> {});
                        return lock;
                    }),
                    "NoResource");
        });
    }

    @Test
    void a_required_guard_refuses_to_lock_inside_such_a_transaction_before_it_sends_anything() {
        with(new NoResource(), application -> {
            transaction(application).executeWithoutResult(status -> {
                isRefused(() -> locks(application).execute(REQUIRED, LockHandle::fence), "binds no JDBC connection");
                isRefused(() -> locks(application).tryExecute(REQUIRED, LockHandle::fence), "binds no JDBC connection");
            });
            assertThat(database.jdbc().queryForObject("SELECT count(*) FROM syncguard_fence_counters", Long.class))
                    .isZero();
        });
    }

    @Test
    void a_required_guard_lets_read_only_transactions_begin_anywhere() {
        with(new NoResource(), application -> {
            TransactionTemplate reading = transaction(application);
            reading.setReadOnly(true);
            assertThat(locks(application)
                            .<String, RuntimeException>execute(REQUIRED, lock -> reading.execute(status -> "read")))
                    .isEqualTo("read");
        });
    }

    @Test
    void the_property_requires_the_guard_of_all_requests_that_name_none() {
        commits.runner("syncguard.commit-guard=required")
                .withBean("other", PlatformTransactionManager.class, NoResource::new)
                .run(application -> {
                    isRefused(
                            () -> locks(application).execute(ORDER, lock -> {
                                transaction(application).executeWithoutResult(status -> {});
                                return lock;
                            }),
                            "NoResource");
                    locks(application).execute(ORDER.commitGuard(CommitGuard.AUTO), lock -> {
                        transaction(application).executeWithoutResult(status -> {});
                        return lock;
                    });
                });
    }

    @Test
    void of_two_bodies_under_one_lease_the_stricter_counts() {
        with(
                new NoResource(),
                application -> isRefused(
                        () -> locks(application)
                                .execute(
                                        REQUIRED,
                                        outer -> locks(application)
                                                .execute(ORDER.commitGuard(CommitGuard.OFF), inner -> {
                                                    transaction(application).executeWithoutResult(status -> {});
                                                    return inner;
                                                })),
                        "NoResource"));
    }

    @Test
    void without_the_guard_a_lock_that_its_holder_knows_to_be_lost_still_refuses_the_commit() {
        DataSource other = PostgresServer.dataSource(PostgresServer.newDatabaseUrl());
        with(
                new DataSourceTransactionManager(other),
                application -> assertThatThrownBy(() -> locks(application).execute(ORDER.noHeartbeat(), lock -> {
                            commits.lose(lock);
                            transaction(application).executeWithoutResult(status -> {});
                            throw new AssertionError("it was committed");
                        }))
                        .isInstanceOf(LockLostException.class));
    }

    /** The library cannot see when this one begins or commits. */
    @Test
    void a_transaction_manager_that_is_no_bean_is_guarded_for_locks_that_are_acquired_inside_its_transactions() {
        commits.run(application -> {
            TransactionTemplate transaction =
                    new TransactionTemplate(new DataSourceTransactionManager(application.getBean(DataSource.class)));
            assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                        add(application.getBean(JdbcTemplate.class));
                        locks(application).execute(REQUIRED, LockHandle::fence);
                        commits.takeOver(ORDER);
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isZero();
        });
    }

    /** Only the second lock makes the library look at the transaction. */
    @Test
    void a_required_guard_refuses_the_commit_of_such_a_manager_on_another_database() {
        DataSource other = PostgresServer.dataSource(PostgresServer.newDatabaseUrl());
        TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(other));
        commits.run(application -> isRefused(
                () -> locks(application).execute(REQUIRED, outer -> {
                    transaction.executeWithoutResult(
                            status -> locks(application).execute("item:1", LockHandle::fence));
                    return outer;
                }),
                "another database"));
    }

    private void isGuarded(DataSource source) {
        with(
                new DataSourceTransactionManager(source),
                application -> assertThatThrownBy(() -> locks(application).execute(REQUIRED, lock -> {
                            transaction(application).executeWithoutResult(status -> {
                                new JdbcTemplate(source).queryForObject("SELECT 1", Integer.class);
                                commits.takeOver(ORDER);
                            });
                            return lock;
                        }))
                        .isInstanceOf(LockLostException.class));
        commits.releaseTaken();
    }

    private void isNotGuarded(DataSource source) {
        with(new DataSourceTransactionManager(source), application -> {
            for (int i = 0; i < 2; i++) {
                assertThat(locks(application)
                                .<String, RuntimeException>execute(
                                        ORDER, lock -> transaction(application).execute(status -> "committed")))
                        .isEqualTo("committed");
            }
        });
    }

    private void refuses(DataSource source, String reason) {
        with(new DataSourceTransactionManager(source), application -> {
            isRefused(
                    () -> locks(application).execute(REQUIRED, lock -> {
                        transaction(application).executeWithoutResult(status -> {
                            throw new AssertionError("it has begun");
                        });
                        return lock;
                    }),
                    reason);
            transaction(application)
                    .executeWithoutResult(status ->
                            isRefused(() -> locks(application).execute(REQUIRED, LockHandle::fence), reason));
        });
    }

    private static void isRefused(ThrowingCallable work, String reason) {
        assertThatThrownBy(work)
                .isInstanceOf(LockException.class)
                .hasMessageContaining("order:1")
                .hasMessageContaining(reason)
                .extracting(failure -> ((LockException) failure).code())
                .isEqualTo(LockErrorCode.INVALID_ARGUMENT);
    }

    private static void with(PlatformTransactionManager manager, Consumer<ApplicationContext> test) {
        commits.runner()
                .withBean("other", PlatformTransactionManager.class, () -> manager)
                .run(test::accept);
    }

    private static TransactionTemplate transaction(ApplicationContext application) {
        return new TransactionTemplate(application.getBean("other", PlatformTransactionManager.class));
    }

    private static LockTemplate locks(ApplicationContext application) {
        return new LockTemplate(application.getBean(LockManager.class));
    }

    private static void add(JdbcTemplate jdbc) {
        jdbc.update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
    }

    private static final class Routing extends AbstractRoutingDataSource {

        private String target = "locks";

        Routing(String locks, String other) {
            setTargetDataSources(
                    Map.of("locks", PostgresServer.dataSource(locks), "other", PostgresServer.dataSource(other)));
            afterPropertiesSet();
        }

        @Override
        protected Object determineCurrentLookupKey() {
            return target;
        }
    }

    /** Has transactions, but no database. */
    private static final class NoResource extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
