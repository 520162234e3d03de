package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.SortedAutoConfigurations;
import io.syncguard.testing.UsualBuild;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import javax.sql.DataSource;
import liquibase.integration.spring.SpringLiquibase;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.flyway.autoconfigure.FlywayDataSource;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Who owns the tables with {@code schema-management=auto}, and where they are. */
class SchemaOwnerTests {

    private static final String LIQUIBASE = "spring.liquibase.change-log=classpath:liquibase/orders.yaml";

    private final TestDatabase database = TestDatabase.empty();
    private final String orders = database.newRole("orders");
    private final String migration = database.newRole("migration");

    @BeforeEach
    void twoUsers() {
        database.jdbc().execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        database.jdbc().execute("GRANT USAGE, CREATE ON SCHEMA public TO " + migration);
    }

    static Stream<Arguments> migrations() {
        return UsualBuild.first(
                3,
                Stream.of(
                        of(
                                "spring.flyway.user",
                                (application, login) -> flyway(application)
                                        .withPropertyValues(
                                                "spring.flyway.user=" + login.getUsername(),
                                                "spring.flyway.password=" + login.getPassword())),
                        of(
                                "a Flyway bean",
                                (application, login) -> application.withBean(
                                        Flyway.class, () -> migrated(login, "classpath:db/orders"))),
                        of(
                                "spring.liquibase.user",
                                (application, login) -> liquibase(application)
                                        .withPropertyValues(
                                                LIQUIBASE,
                                                "spring.liquibase.user=" + login.getUsername(),
                                                "spring.liquibase.password=" + login.getPassword())),
                        of(
                                "spring.flyway.url",
                                (application, login) -> flyway(application)
                                        .withPropertyValues(
                                                "spring.flyway.url=" + login.getUrl(),
                                                "spring.flyway.user=" + login.getUsername(),
                                                "spring.flyway.password=" + login.getPassword())),
                        of(
                                "@FlywayDataSource",
                                (application, login) -> flyway(application)
                                        .withPropertyValues(
                                                "migration.url=" + login.getUrl(),
                                                "migration.user=" + login.getUsername(),
                                                "migration.password=" + login.getPassword())
                                        .withUserConfiguration(MarkedForFlyway.class)),
                        of(
                                "two Flyway beans",
                                (application, login) -> application
                                        .withBean("ours", Flyway.class, () -> migrated(login, "classpath:db/orders"))
                                        .withBean(
                                                "elsewhere",
                                                Flyway.class,
                                                () -> migrated(elsewhere(), "classpath:db/orders"))),
                        of(
                                "beside a mocked Flyway bean",
                                (application, login) -> application
                                        .withBean("mocked", Flyway.class, () -> mock(Flyway.class))
                                        .withBean("ours", Flyway.class, () -> migrated(login, "classpath:db/orders"))),
                        of(
                                "below a lazy Flyway bean that cannot be made",
                                (application, login) -> application
                                        .withParent(withLazyFlyway())
                                        .withBean("ours", Flyway.class, () -> migrated(login, "classpath:db/orders"))),
                        of(
                                "a SpringLiquibase bean",
                                (application, login) -> application.withBean(SpringLiquibase.class, () -> {
                                    SpringLiquibase bean = new SpringLiquibase();
                                    bean.setDataSource(login);
                                    bean.setChangeLog("classpath:liquibase/orders.yaml");
                                    bean.setAnalyticsEnabled(false);
                                    return bean;
                                }))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("migrations")
    void the_user_of_the_migrations_owns_the_tables_and_the_application_uses_them(
            String name, BiFunction<ApplicationContextRunner, Login, ApplicationContextRunner> change) {
        database.jdbc()
                .execute("ALTER DEFAULT PRIVILEGES FOR ROLE " + migration
                        + " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO " + orders);

        change.apply(application(), loginOf(migration)).run(started -> {
            assertLocks(started);
            assertThat(ownerOf("syncguard_locks")).isEqualTo(migration);
            assertThat(ownerOf("syncguard_fences")).isEqualTo(migration);
        });

        database.jdbc()
                .execute("CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS"
                        + " 'SELECT 0'");
        change.apply(application(), loginOf(migration)).run(SchemaOwnerTests::assertLocks);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_role_of_the_init_sql_of_flyway_owns_the_tables(boolean userOfFlyway) {
        String user = userOfFlyway ? database.newRole("flyway") : orders;
        database.jdbc().execute("GRANT " + migration + " TO " + user);
        database.jdbc()
                .execute("ALTER DEFAULT PRIVILEGES FOR ROLE " + migration
                        + " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO " + orders);

        migratedBy(user)
                .withPropertyValues("spring.flyway.init-sqls=SET ROLE " + migration)
                .run(started -> {
                    assertLocks(started);
                    assertThat(ownerOf("syncguard_locks")).isEqualTo(migration);
                    assertThat(ownerOf("syncguard_fences")).isEqualTo(migration);
                });
    }

    @Test
    void the_tables_are_where_the_locks_look_for_them() {
        database.jdbc().execute("CREATE SCHEMA " + migration + " AUTHORIZATION " + migration);
        database.jdbc()
                .execute("ALTER DEFAULT PRIVILEGES FOR ROLE " + migration
                        + " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO " + orders);

        migratedBy(migration)
                .withPropertyValues("spring.flyway.default-schema=" + migration)
                .run(started -> {
                    assertLocks(started);
                    assertThat(ownerOf("public.syncguard_locks")).isEqualTo(migration);
                    assertThat(ownerOf("public.syncguard_fences")).isEqualTo(migration);
                });
    }

    @Test
    void the_tables_are_in_the_database_of_the_locks_if_the_migrations_run_in_another() {
        database.jdbc().execute("GRANT CREATE ON SCHEMA public TO " + orders);
        TestDatabase other = TestDatabase.empty();

        flyway(application())
                .withPropertyValues("spring.flyway.url=" + other.url())
                .run(started -> {
                    assertLocks(started);
                    assertThat(ownerOf("syncguard_locks")).isEqualTo(orders);
                    assertThat(ownerOf("syncguard_fences")).isEqualTo(orders);
                    assertThat(other.relationsAndFunctions()).containsExactly("flyway_schema_history", "orders");
                });
    }

    @Test
    void the_user_of_the_locks_makes_them_where_that_of_the_migrations_may_not() {
        database.jdbc().execute("CREATE SCHEMA locking AUTHORIZATION " + orders);

        migratedBy(migration)
                .withPropertyValues(
                        "syncguard.postgres.locks-table=locking.syncguard_locks",
                        "syncguard.postgres.fence-counters-table=locking.syncguard_fence_counters",
                        "syncguard.fencing.table=locking.syncguard_fences")
                .run(started -> {
                    assertLocks(started);
                    assertThat(ownerOf("locking.syncguard_locks")).isEqualTo(orders);
                    assertThat(ownerOf("locking.syncguard_fences")).isEqualTo(orders);
                });
    }

    @Test
    void initialize_takes_the_user_of_the_locks() {
        database.jdbc().execute("GRANT CREATE ON SCHEMA public TO " + orders);

        migratedBy(migration)
                .withPropertyValues(
                        "syncguard.postgres.schema-management=initialize",
                        "syncguard.fencing.schema-management=initialize")
                .run(started -> {
                    assertLocks(started);
                    assertThat(ownerOf("syncguard_locks")).isEqualTo(orders);
                    assertThat(ownerOf("syncguard_fences")).isEqualTo(orders);
                });
    }

    /** Flyway would refuse a schema that is not empty. */
    @Test
    void a_manager_of_a_tenant_is_made_after_the_migrations() {
        database.jdbc().execute("GRANT CREATE ON SCHEMA public TO " + orders);

        flyway(application()).withUserConfiguration(Tenants.class).run(SchemaOwnerTests::assertLocks);
    }

    private ApplicationContextRunner application() {
        return Applications.on(database.url())
                .withPropertyValues(database.loginOf(orders))
                .withPropertyValues("syncguard.fencing.enabled=true");
    }

    private ApplicationContextRunner migratedBy(String user) {
        return flyway(application())
                .withPropertyValues(
                        "spring.flyway.user=" + user,
                        "spring.flyway.password=" + loginOf(user).getPassword());
    }

    private String ownerOf(String table) {
        return database.jdbc()
                .queryForObject(
                        "SELECT tableowner FROM pg_tables WHERE format('%I.%I', schemaname, tablename)::regclass"
                                + " = ?::regclass",
                        String.class, table);
    }

    private Login loginOf(String role) {
        Map<String, String> login = new HashMap<>();
        for (String property : database.loginOf(role)) {
            String[] parts = property.split("=", 2);
            login.put(parts[0], parts[1]);
        }
        return new Login(login.get("spring.datasource.url"), role, login.get("spring.datasource.password"));
    }

    private static Login elsewhere() {
        return new Login(PostgresServer.newDatabaseUrl(), null, null);
    }

    private static ApplicationContext withLazyFlyway() {
        GenericApplicationContext parent = new GenericApplicationContext();
        parent.registerBean(
                "down",
                Flyway.class,
                () -> {
                    throw new IllegalStateException("The other database is down");
                },
                definition -> definition.setLazyInit(true));
        parent.refresh();
        return parent;
    }

    private static ApplicationContextRunner flyway(ApplicationContextRunner application) {
        return Applications.withFlyway(application);
    }

    private static ApplicationContextRunner liquibase(ApplicationContextRunner application) {
        return application.withConfiguration(SortedAutoConfigurations.of(LiquibaseAutoConfiguration.class));
    }

    private static Flyway migrated(DataSource dataSource, String location) {
        Flyway flyway =
                Flyway.configure().dataSource(dataSource).locations(location).load();
        flyway.migrate();
        return flyway;
    }

    private static void assertLocks(AssertableApplicationContext application) {
        assertThat(application).hasNotFailed();
        assertThat(application
                        .getBean(LockTemplate.class)
                        .<Boolean, RuntimeException>execute("order:1", lock -> lock.isHeld()))
                .isTrue();
    }

    private static Arguments of(
            String name, BiFunction<ApplicationContextRunner, Login, ApplicationContextRunner> change) {
        return Arguments.of(name, change);
    }

    static final class Login extends DriverManagerDataSource {

        Login(String url, String user, String password) {
            super(url, user, password);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedForFlyway {

        @Bean(defaultCandidate = false)
        @FlywayDataSource
        DataSource flywayDataSource(Environment environment) {
            return new Login(
                    environment.getRequiredProperty("migration.url"),
                    environment.getRequiredProperty("migration.user"),
                    environment.getRequiredProperty("migration.password"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        @Bean
        LockManager lockManager(JdbcLockManagers managers, DataSource dataSource) {
            return managers.create("only", dataSource);
        }
    }
}
