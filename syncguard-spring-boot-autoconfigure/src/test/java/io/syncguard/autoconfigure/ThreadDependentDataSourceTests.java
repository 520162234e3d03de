package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.IsolationLevelDataSourceAdapter;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A DataSource whose connections depend on the thread, the transaction or the time does not split or hide a lock. */
@Tag("verification")
@Timeout(60)
class ThreadDependentDataSourceTests {

    private static final LockRequest ORDER = LockRequest.of("order:42").waitTime(Duration.ZERO);

    private static final InheritableThreadLocal<String> TENANT = new InheritableThreadLocal<>();

    private final TestDatabase north = TestDatabase.empty();
    private final TestDatabase south = TestDatabase.empty();

    @AfterEach
    void leaveTenant() {
        TENANT.remove();
    }

    @Test
    void locks_of_a_router_with_an_inherited_thread_local_are_all_in_its_default_database() {
        Map<String, DataSource> targets = Map.of("south", PostgresServer.dataSource(south.url()));
        DataSource router =
                opaque(() -> targets.getOrDefault(String.valueOf(TENANT.get()), PostgresServer.dataSource(north.url()))
                        .getConnection());

        TENANT.set("south");
        on(router).run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            assertThat(inThreads(10, thread -> {
                        TENANT.set(thread % 2 == 0 ? "south" : "north");
                        return locks.tryAcquire(ORDER) != null;
                    }))
                    .containsOnlyOnce(true);
            assertThat(north.lockedKeys()).containsExactly("order:42");
            assertThat(south.relationsAndFunctions()).isEmpty();
        });
    }

    @Test
    void a_router_that_fails_without_a_tenant_fails_the_start() {
        Map<String, DataSource> targets = Map.of("north", PostgresServer.dataSource(north.url()));
        TENANT.set("north");
        on(opaque(() -> targets.get(TENANT.get()).getConnection()))
                .run(application -> assertThat(setupFailure(application.getStartupFailure()))
                        .hasMessageContaining("@SyncGuardDataSource")
                        .satisfies(failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT)));
    }

    @Test
    void a_data_source_of_a_request_fails_the_start() {
        DataSource ofRequest = ProxyFactory.getProxy(DataSource.class, new AbstractBeanFactoryBasedTargetSource() {
            @Override
            public Class<?> getTargetClass() {
                return DataSource.class;
            }

            @Override
            public Object getTarget() {
                throw new IllegalStateException("No thread-bound request found");
            }
        });

        on(ofRequest)
                .run(application -> assertThat(setupFailure(application.getStartupFailure()))
                        .hasMessageContaining("No thread-bound request found")
                        .hasMessageContaining("@SyncGuardDataSource"));
    }

    @Test
    void a_data_source_that_leads_to_another_database_later_is_refused() {
        AtomicReference<TestDatabase> current = new AtomicReference<>(north);
        on(opaque(() -> PostgresServer.dataSource(current.get().url()).getConnection()))
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    LockHandle held = locks.acquire(ORDER);
                    current.set(south);
                    endSessionsOf(north);

                    await().atMost(Duration.ofSeconds(20))
                            .untilAsserted(() -> assertRefused(() -> locks.tryAcquire(ORDER), "several databases"));
                    assertThat(south.relationsAndFunctions()).isEmpty();

                    current.set(north);
                    await().atMost(Duration.ofSeconds(20))
                            .ignoreExceptionsInstanceOf(LockException.class)
                            .untilAsserted(
                                    () -> assertThat(locks.tryAcquire(ORDER)).isNull());
                    assertThat(held.isHeld()).isTrue();
                });
    }

    @Test
    void one_that_leads_to_its_database_again_after_a_failure_is_not() {
        on(opaque(() -> PostgresServer.dataSource(north.url()).getConnection())).run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            locks.acquire(ORDER).close();
            endSessionsOf(north);

            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockException.class)
                    .untilAsserted(() -> locks.acquire(ORDER).close());
        });
    }

    @Test
    void a_router_by_the_callers_transaction_sees_none() {
        DataSource router = opaque(() -> PostgresServer.dataSource(
                        TransactionSynchronizationManager.isCurrentTransactionReadOnly() ? south.url() : north.url())
                .getConnection());
        on(router).run(application -> {
            TransactionTemplate transaction =
                    new TransactionTemplate(new JdbcTransactionManager(PostgresServer.dataSource(south.url())));
            transaction.setReadOnly(true);
            transaction.executeWithoutResult(
                    status -> application.getBean(LockManager.class).acquire(ORDER));
            assertThat(north.lockedKeys()).containsExactly("order:42");
        });
    }

    @Test
    void a_routing_data_source_is_found_behind_wrappers_and_pools() {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "north";
            }
        };
        routing.setTargetDataSources(Map.of("north", pool(north.url()), "south", pool(south.url())));
        routing.afterPropertiesSet();
        HikariDataSource poolOfRoutes = new HikariDataSource();
        poolOfRoutes.setDataSource(new LazyConnectionDataSourceProxy(routing));

        for (DataSource hidden : List.of(new DelegatingDataSource(routing) {}, poolOfRoutes)) {
            on(hidden)
                    .run(application -> assertThat(setupFailure(application.getStartupFailure()))
                            .hasMessageContaining("routes to 2 databases"));
        }
    }

    @Test
    void wrappers_of_spring_around_a_data_source_without_an_url_keep_locks_out_of_the_callers_transaction() {
        DataSource opaque = opaque(() -> PostgresServer.dataSource(north.url()).getConnection());
        TransactionAwareDataSourceProxy aware = new TransactionAwareDataSourceProxy(opaque);
        aware.setReobtainTransactionalConnections(true);
        IsolationLevelDataSourceAdapter isolated = new IsolationLevelDataSourceAdapter();
        isolated.setTargetDataSource(opaque);

        for (DataSource wrapper : List.of(aware, new LazyConnectionDataSourceProxy(opaque), isolated)) {
            on(wrapper)
                    .run(application -> new TransactionTemplate(new JdbcTransactionManager(opaque))
                            .executeWithoutResult(status -> {
                                new JdbcTemplate(opaque).queryForList("SELECT 1");
                                LockHandle lock =
                                        application.getBean(LockManager.class).acquire(ORDER);
                                assertThat(north.lockedKeys()).containsExactly("order:42");
                                lock.close();
                            }));
        }
    }

    @Test
    void a_data_source_whose_user_is_added_by_a_wrapper_keeps_that_user() {
        String role = north.newRole();
        north.jdbc().execute("GRANT CREATE ON SCHEMA public TO " + role);
        UserCredentialsDataSourceAdapter adapter = new UserCredentialsDataSourceAdapter();
        adapter.setTargetDataSource(PostgresServer.dataSource(north.url()));
        adapter.setUsername(role);
        adapter.setPassword("secret");

        on(adapter).run(application -> {
            application.getBean(LockManager.class).acquire(ORDER);
            assertThat(north.jdbc()
                            .queryForList(
                                    "SELECT tableowner FROM pg_tables WHERE tablename = 'syncguard_locks'",
                                    String.class))
                    .containsExactly(role);
        });
    }

    @Test
    void a_pool_without_autocommit_serves_locks_in_autocommit() throws Exception {
        try (HikariDataSource pool = pool(north.url())) {
            pool.setAutoCommit(false);
            pool.setMaximumPoolSize(20);
            on(opaque(pool::getConnection)).run(application -> {
                application.getBean(LockManager.class).acquire(ORDER);
                assertThat(north.lockedKeys()).containsExactly("order:42");
            });
        }
    }

    @Test
    void a_lock_on_a_connection_that_is_in_the_callers_transaction_is_refused() throws SQLException {
        try (Connection only = PostgresServer.dataSource(north.url()).getConnection()) {
            SingleConnectionDataSource shared = new SingleConnectionDataSource(only, true);
            on(opaque(shared::getConnection)).run(application -> {
                LockManager locks = application.getBean(LockManager.class);
                new TransactionTemplate(new JdbcTransactionManager(shared)).executeWithoutResult(status -> {
                    new JdbcTemplate(shared).execute("CREATE TABLE orders (id INTEGER)");
                    assertRefused(() -> locks.tryAcquire(ORDER), "part of other transactions");
                });
                assertThat(north.relationsAndFunctions()).contains("orders");

                assertThat(locks.tryAcquire(ORDER)).isNotNull();
            });
        }
    }

    static LockException setupFailure(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof LockException)) {
            cause = cause.getCause();
        }
        assertThat(cause).isInstanceOf(LockException.class);
        return (LockException) cause;
    }

    static void assertRefused(ThrowingCallable lock, String problem) {
        assertThatThrownBy(lock)
                .isInstanceOfSatisfying(
                        LockException.class,
                        refused -> assertThat(refused.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("order:42")
                .hasMessageContaining(problem)
                .hasMessageContaining("@SyncGuardDataSource");
    }

    private static void endSessionsOf(TestDatabase database) {
        database.jdbc()
                .queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    }

    @FunctionalInterface
    private interface PerThread<T> {
        T run(int thread);
    }

    private static <T> List<T> inThreads(int count, PerThread<T> work) throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            return IntStream.range(0, count)
                    .mapToObj(thread -> CompletableFuture.supplyAsync(() -> work.run(thread), threads))
                    .toList()
                    .stream()
                    .map(CompletableFuture::join)
                    .toList();
        } finally {
            threads.shutdown();
            threads.awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    static ApplicationContextRunner on(DataSource dataSource) {
        return Applications.withoutDatabase()
                .withPropertyValues("syncguard.postgres.network-timeout=2s", "syncguard.shutdown-timeout=100ms")
                .withBean(DataSource.class, () -> dataSource);
    }

    private static HikariDataSource pool(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        return pool;
    }

    @FunctionalInterface
    interface Opening {
        Connection open() throws SQLException;
    }

    /** It reveals neither an URL nor what it wraps. */
    static DataSource opaque(Opening opening) {
        return new AbstractDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return opening.open();
            }

            @Override
            public Connection getConnection(String username, String password) throws SQLException {
                return getConnection();
            }
        };
    }
}
