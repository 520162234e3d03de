package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.p6spy.engine.common.StatementInformation;
import com.p6spy.engine.event.JdbcEventListener;
import com.p6spy.engine.event.SimpleJdbcEventListener;
import com.p6spy.engine.logging.P6LogOptions;
import com.p6spy.engine.spy.P6Factory;
import com.p6spy.engine.spy.P6LoadableOptions;
import com.p6spy.engine.spy.P6SpyDriver;
import com.p6spy.engine.spy.option.P6OptionsRepository;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.syncguard.LockBackendException;
import io.syncguard.LockTemplate;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** A DataSource that adds something to its connections, such as traces or tokens. */
@Timeout(60)
class WrappedDataSourceTests {

    private static final String URL = PostgresServer.newDatabaseUrl();

    @Test
    void locks_that_bypass_a_wrapper_say_so_at_the_start() {
        CountingWrapper wrapper = new CountingWrapper(pool(10));

        assertWarned(new LazyConnectionDataSourceProxy(wrapper), CountingWrapper.class);
        assertThat(wrapper.connections).as("only for a look at its pool").hasValue(1);
    }

    @Test
    void so_do_those_that_bypass_a_pool_with_a_way_of_its_own_to_connect() {
        assertWarned(new CountingPool(), CountingPool.class);
    }

    @Test
    void a_pool_behind_wrappers_of_spring_says_nothing() {
        try (CapturedLog log = new CapturedLog()) {
            with(new LazyConnectionDataSourceProxy(new DelegatingDataSource(pool(10))))
                    .run(context -> assertLocks(context.getBean(LockTemplate.class)));

            assertThat(log.messages()).noneMatch(message -> message.contains("bypass"));
        }
    }

    @Test
    void wrappers_that_lead_to_a_new_one_each_time_keep_the_locks() {
        with(new RenewedWrapper(PostgresServer.dataSource(URL)))
                .run(context -> assertLocks(context.getBean(LockTemplate.class)));
    }

    @Test
    void proxies_that_lead_to_a_new_one_each_time_keep_the_locks() {
        with(renewedProxy(PostgresServer.dataSource(URL)))
                .run(context -> assertLocks(context.getBean(LockTemplate.class)));
    }

    @Test
    void a_tracing_driver_in_the_url_sees_the_statements_of_locks() {
        System.setProperty("p6spy.config.modulelist", TracedStatements.class.getName());
        Applications.on(URL.replace("jdbc:", "jdbc:p6spy:"))
                .withPropertyValues("spring.datasource.driver-class-name=" + P6SpyDriver.class.getName())
                .run(context -> {
                    assertLocks(context.getBean(LockTemplate.class));

                    assertThat(TracedStatements.SEEN).anyMatch(sql -> sql.contains("syncguard_locks_acquire"));
                });
    }

    @Test
    void a_marked_data_source_keeps_its_wrapper() {
        try (CapturedLog log = new CapturedLog()) {
            Applications.on(URL)
                    .withPropertyValues("syncguard.postgres.pool-size=1")
                    .withUserConfiguration(MarkedWrapper.class)
                    .run(context -> {
                        assertLocks(context.getBean(LockTemplate.class));
                        assertThat(context.getBean(CountingWrapper.class).connections)
                                .hasValueGreaterThan(0);
                    });

            assertThat(log.messages()).noneMatch(message -> message.contains("bypass"));
        }
    }

    @Test
    void a_marked_data_source_whose_pool_is_too_small_fails_the_start() {
        Applications.on(URL)
                .withPropertyValues("syncguard.postgres.pool-size=7")
                .withUserConfiguration(MarkedWrapper.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("has a pool of 8 connections, and locks need 12")
                        .hasMessageContaining("maximum-pool-size to 12"));
    }

    /** The test server asks for no password, so the user shows whose credentials a connection has. */
    @Test
    void new_connections_have_the_credentials_that_the_pool_of_the_application_has_then() {
        TestDatabase database = TestDatabase.withSchema();
        String first = database.newRole();
        String second = first + "_rotated";
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + first);
        database.jdbc().execute("CREATE ROLE " + second + " LOGIN IN ROLE " + first);
        Applications.on(database.url())
                .withPropertyValues(database.loginOf(first))
                .withPropertyValues("syncguard.postgres.schema-management=none")
                .run(context -> {
                    LockTemplate locks = context.getBean(LockTemplate.class);
                    assertLocks(locks);

                    context.getBean(HikariDataSource.class).setCredentials(Credentials.of(second, "rotated"));
                    database.jdbc()
                            .queryForList(
                                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ?", first);

                    await().atMost(Duration.ofSeconds(10))
                            .ignoreExceptionsInstanceOf(LockBackendException.class)
                            .untilAsserted(() -> assertLocks(locks));
                    assertThat(database.jdbc()
                                    .queryForList(
                                            "SELECT DISTINCT usename FROM pg_stat_activity WHERE usename IN (?, ?)",
                                            String.class,
                                            first,
                                            second))
                            .containsExactly(second);
                });
    }

    @Test
    void a_data_source_that_routes_to_several_databases_fails_the_start() {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "one";
            }
        };
        routing.setTargetDataSources(Map.of(
                "one",
                PostgresServer.dataSource(URL),
                "two",
                PostgresServer.dataSource(PostgresServer.newDatabaseUrl())));
        routing.afterPropertiesSet();

        with(routing)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("routes to 2 databases")
                        .hasMessageContaining("LockManager.routing"));
    }

    private static void assertWarned(DataSource dataSource, Class<?> bypassed) {
        try (CapturedLog log = new CapturedLog()) {
            with(dataSource).run(context -> assertLocks(context.getBean(LockTemplate.class)));

            assertThat(log.messages())
                    .filteredOn(message -> message.contains("bypass"))
                    .singleElement()
                    .asString()
                    .startsWith("Connections for locks bypass " + bypassed.getName());
        }
    }

    private static void assertLocks(LockTemplate locks) {
        assertThat(locks.<Boolean, RuntimeException>execute("order:42", lock -> lock.isHeld()))
                .isTrue();
    }

    private static ApplicationContextRunner with(DataSource dataSource) {
        return Applications.withoutDatabase().withBean(DataSource.class, () -> dataSource);
    }

    private static HikariDataSource pool(int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(URL);
        pool.setMaximumPoolSize(size);
        return pool;
    }

    /** A module of p6spy, which makes it by its name. */
    public static final class TracedStatements implements P6Factory {

        static final List<String> SEEN = new CopyOnWriteArrayList<>();

        @Override
        public P6LoadableOptions getOptions(P6OptionsRepository repository) {
            return new P6LogOptions(repository);
        }

        @Override
        public JdbcEventListener getJdbcEventListener() {
            return new SimpleJdbcEventListener() {
                @Override
                public void onBeforeAnyExecute(StatementInformation statement) {
                    SEEN.add(statement.getSql());
                }
            };
        }
    }

    /** Wraps each connection, as p6spy and OpenTelemetry do. */
    static final class CountingWrapper extends DelegatingDataSource {

        final AtomicInteger connections = new AtomicInteger();

        CountingWrapper(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            connections.incrementAndGet();
            return super.getConnection();
        }
    }

    static final class CountingPool extends HikariDataSource {

        CountingPool() {
            setJdbcUrl(URL);
        }

        @Override
        public Connection getConnection() throws SQLException {
            return super.getConnection();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedWrapper {

        @SyncGuardDataSource
        @Bean(defaultCandidate = false)
        CountingWrapper lockDataSource() {
            return new CountingWrapper(pool(8));
        }
    }

    /** Returns a proxy whose target is another proxy each time it is asked, except for calls through it. */
    private static DataSource renewedProxy(DataSource target) {
        ProxyFactory proxy = new ProxyFactory();
        proxy.setInterfaces(DataSource.class);
        proxy.setTargetSource(new TargetSource() {

            @Override
            public Class<?> getTargetClass() {
                return DataSource.class;
            }

            @Override
            public boolean isStatic() {
                return false;
            }

            @Override
            public Object getTarget() {
                boolean called = StackWalker.getInstance()
                        .walk(frames ->
                                frames.anyMatch(frame -> frame.getMethodName().equals("invoke")
                                        && frame.getClassName().startsWith("org.springframework.aop.framework")));
                return called ? target : renewedProxy(target);
            }
        });
        return (DataSource) proxy.getProxy();
    }

    private static final class RenewedWrapper extends DelegatingDataSource {

        RenewedWrapper(DataSource target) {
            super(target);
        }

        @Override
        public DataSource getTargetDataSource() {
            StackWalker.StackFrame caller = StackWalker.getInstance()
                    .walk(frames -> frames.skip(1).findFirst().orElseThrow());
            boolean isOwn = caller.getClassName().equals(DelegatingDataSource.class.getName());
            return isOwn ? super.getTargetDataSource() : new RenewedWrapper(super.getTargetDataSource());
        }
    }
}
