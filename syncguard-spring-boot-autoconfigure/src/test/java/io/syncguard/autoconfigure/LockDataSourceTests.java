package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockTemplate;
import io.syncguard.testing.PostgresServer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

class LockDataSourceTests {

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void a_marked_data_source_keeps_the_locks_and_boots_own_stays() {
        TestDatabase orders = TestDatabase.empty();
        Applications.on(orders.url())
                .withPropertyValues("locks.url=" + database.url())
                .withUserConfiguration(MarkedDataSource.class)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(application.getBean(DataSource.class)).isInstanceOf(HikariDataSource.class);
                    String jdbcDatabase = application
                            .getBean(JdbcTemplate.class)
                            .queryForObject("SELECT current_database()", String.class);
                    assertThat(jdbcDatabase).isEqualTo(orders.name());
                    assertLocksIn(database, application.getBean(LockTemplate.class));
                    assertThat(orders.relationsAndFunctions()).isEmpty();
                    assertThat(application
                                    .getBean("lockDataSource", HikariDataSource.class)
                                    .isRunning())
                            .as("has opened its own pool")
                            .isFalse();
                });
    }

    @Test
    void a_marked_data_source_may_be_the_only_one() {
        Applications.withoutBoot()
                .withPropertyValues("locks.url=" + database.url())
                .withUserConfiguration(MarkedDataSource.class)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertLocksIn(database, application.getBean(LockTemplate.class));
                });
    }

    @Test
    void a_marked_data_source_is_set_up_by_the_library_and_the_applications_flyway_left_alone() {
        TestDatabase orders = TestDatabase.empty();
        Applications.withFlyway(orders.url())
                .withPropertyValues("locks.url=" + database.url())
                .withUserConfiguration(MarkedDataSource.class)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertLocksIn(database, application.getBean(LockTemplate.class));
                    assertThat(orders.relationsAndFunctions()).containsExactly("flyway_schema_history", "orders");
                });
    }

    @Test
    void wrapped_pools_work() {
        DataSource pool = DataSourceBuilder.create()
                .type(HikariDataSource.class)
                .url(database.url())
                .build();
        assertLocksThrough(new LazyConnectionDataSourceProxy(pool));
        assertLocksThrough(new TransactionAwareDataSourceProxy(pool));
        assertLocksThrough(new DelegatingDataSource(new LazyConnectionDataSourceProxy(pool)));
        assertLocksThrough((DataSource) new ProxyFactory(pool).getProxy());
    }

    @ParameterizedTest
    @ValueSource(classes = {Refreshed.class, RefreshedByInterface.class})
    void a_data_source_in_a_scope_that_is_refreshed_works(Class<?> configuration) {
        Applications.withoutDatabase()
                .withInitializer(context -> context.getBeanFactory().registerScope("refresh", new SimpleThreadScope()))
                .withPropertyValues("locks.url=" + database.url())
                .withUserConfiguration(configuration)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertLocksIn(database, application.getBean(LockTemplate.class));
                });
    }

    @Test
    void a_data_source_of_the_driver_works() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(database.url());

        assertLocksThrough(dataSource);
    }

    @Test
    void unpooled_data_sources_of_spring_work() {
        assertLocksThrough(new SimpleDriverDataSource(new Driver(), database.url()));
        assertLocksThrough(new DriverManagerDataSource(database.url()));
    }

    @Test
    void a_data_source_that_does_not_reveal_its_url_lends_its_connections() {
        AbstractRoutingDataSource dataSource = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "one";
            }
        };
        dataSource.setTargetDataSources(Map.of("one", PostgresServer.dataSource(database.url())));
        dataSource.afterPropertiesSet();

        assertLocksThrough(dataSource);
    }

    @Test
    void another_product_than_postgresql_is_refused() {
        assertThat(failureWith(new RenamedDatabase(PostgresServer.dataSource(database.url()))))
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("Oracle")
                .hasMessageContaining("@SyncGuardDataSource");
        assertThat(database.relationsAndFunctions()).isEmpty();
    }

    @Test
    void no_data_source_is_an_understandable_failure() {
        Applications.withoutBoot()
                .run(application -> assertThat(application)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("spring.datasource.url")
                        .hasMessageContaining("syncguard.enabled=false"));
    }

    @Test
    void a_database_that_cannot_be_reached_is_an_understandable_failure() {
        Applications.on("jdbc:postgresql://localhost:1/nowhere")
                .withPropertyValues("syncguard.postgres.network-timeout=500ms")
                .run(application ->
                        assertThat(application).getFailure().hasStackTraceContaining("PostgreSQL cannot be reached"));
    }

    private static Throwable failureWith(DataSource dataSource) {
        Throwable[] failure = new Throwable[1];
        Applications.withoutDatabase()
                .withBean(DataSource.class, () -> dataSource)
                .run(application -> {
                    assertThat(application).hasFailed();
                    failure[0] = application.getStartupFailure();
                });
        return rootOf(failure[0]);
    }

    private static Throwable rootOf(Throwable failure) {
        return failure.getCause() == null ? failure : rootOf(failure.getCause());
    }

    private void assertLocksThrough(DataSource dataSource) {
        Applications.withoutDatabase()
                .withBean(DataSource.class, () -> dataSource)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertLocksIn(database, application.getBean(LockTemplate.class));
                });
    }

    private static void assertLocksIn(TestDatabase database, LockTemplate locks) {
        boolean isLocked =
                locks.execute("order:1", lock -> database.lockedKeys().contains("order:1"));
        assertThat(isLocked).isTrue();
        assertThat(database.lockedKeys()).isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedDataSource {

        // sample: lock-data-source
        @Bean(defaultCandidate = false)
        @SyncGuardDataSource
        HikariDataSource lockDataSource(@Value("${locks.url}") String url) {
            HikariDataSource dataSource = new HikariDataSource();
            dataSource.setJdbcUrl(url);
            return dataSource;
        }
        // end
    }

    @Configuration(proxyBeanMethods = false)
    static class Refreshed {

        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
        HikariDataSource dataSource(Environment environment) {
            return DataSourceBuilder.create()
                    .type(HikariDataSource.class)
                    .url(environment.getRequiredProperty("locks.url"))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RefreshedByInterface {

        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.INTERFACES)
        DataSource dataSource(Environment environment) {
            return new Refreshed().dataSource(environment);
        }
    }

    /** Leads to a database that reports another product name. */
    private static final class RenamedDatabase extends DelegatingDataSource {

        RenamedDatabase(DataSource target) {
            super(new AbstractRoutingDataSource() {
                {
                    setTargetDataSources(Map.of("one", target));
                    afterPropertiesSet();
                }

                @Override
                protected Object determineCurrentLookupKey() {
                    return "one";
                }

                @Override
                public Connection getConnection() throws SQLException {
                    return renamed(super.getConnection());
                }
            });
        }

        private static Connection renamed(Connection connection) {
            return proxy(Connection.class, (proxy, method, arguments) -> {
                Object result = invoke(connection, method, arguments);
                return result instanceof DatabaseMetaData metaData ? renamed(metaData) : result;
            });
        }

        private static DatabaseMetaData renamed(DatabaseMetaData metaData) {
            return proxy(
                    DatabaseMetaData.class,
                    (proxy, method, arguments) -> method.getName().equals("getDatabaseProductName")
                            ? "Oracle"
                            : invoke(metaData, method, arguments));
        }

        private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException ex) {
                throw ex.getTargetException();
            }
        }

        private static <T> T proxy(Class<T> type, InvocationHandler handler) {
            return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
        }
    }
}
