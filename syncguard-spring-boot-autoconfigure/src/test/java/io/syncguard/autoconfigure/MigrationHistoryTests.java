package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import io.syncguard.testing.UsualBuild;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.flyway.autoconfigure.FlywayMigrationStrategy;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Whoever leaves out the library, or a part of it, does not find anything of it in the history of the application. */
class MigrationHistoryTests {

    private final TestDatabase database = TestDatabase.empty();

    static Stream<Arguments> laterStarts() {
        return UsualBuild.first(
                8,
                Stream.of(
                        then("the same"),
                        then("without any locks", "syncguard.enabled=false"),
                        then("initialized by the library", "syncguard.postgres.schema-management=initialize"),
                        then("only checked", "syncguard.postgres.schema-management=none"),
                        then("without the fences", "syncguard.fencing.enabled=false"),
                        then("fences only checked", "syncguard.fencing.schema-management=none"),
                        then("neither locks nor fences", "syncguard.enabled=false", "syncguard.fencing.enabled=false"),
                        then("other tables", "syncguard.postgres.locks-table=locks", "syncguard.fencing.table=fences"),
                        then("the clock", "syncguard.fences=clock"),
                        then(
                                "on Redis",
                                application -> application
                                        .withPropertyValues("syncguard.backend=redis")
                                        .withBean(
                                                LettuceConnectionFactory.class,
                                                () -> RedisServer.connections(RedisServer.url()))),
                        then("no validation", "spring.flyway.validate-on-migrate=false"),
                        then("strict validation", "spring.flyway.ignore-migration-patterns="),
                        then(
                                "the next migration",
                                application -> application.withPropertyValues(
                                        "spring.flyway.locations=classpath:db/orders,classpath:db/customers",
                                        "spring.flyway.placeholders.customers=customers")),
                        then(
                                "a strategy that only validates",
                                application ->
                                        application.withBean(FlywayMigrationStrategy.class, () -> Flyway::validate)),
                        then(
                                "a strategy that does nothing",
                                application -> application.withBean(FlywayMigrationStrategy.class, () -> flyway -> {})),
                        then("baseline", "spring.flyway.baseline-on-migrate=true"),
                        then(
                                "locks of tests",
                                application -> application.withBean(LockBackend.class, InMemoryLockBackend::new)),
                        then("lazily", "spring.main.lazy-initialization=true")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("laterStarts")
    void a_database_with_our_tables_serves_a_later_start(String name, UnaryOperator<ApplicationContextRunner> change) {
        startOnce();

        change.apply(application()).run(later -> assertThat(later).hasNotFailed());

        assertThat(history()).doesNotContain("syncguard").contains("V1__orders.sql");
    }

    /** A slice such as {@code @JdbcTest} starts so, and a release of the application before it used locks. */
    @Test
    void a_release_without_the_library_starts() {
        startOnce();

        new ApplicationContextRunner()
                .withConfiguration(
                        SortedAutoConfigurations.of(DataSourceAutoConfiguration.class, FlywayAutoConfiguration.class))
                .withPropertyValues("spring.datasource.url=" + database.url())
                .withPropertyValues("spring.flyway.locations=classpath:db/orders")
                .run(without -> assertThat(without).hasNotFailed());
    }

    @Test
    void flyway_validates_outside_of_the_application() {
        startOnce();

        Flyway.configure()
                .dataSource(database.url(), null, null)
                .locations("classpath:db/orders")
                .load()
                .validate();
    }

    private void startOnce() {
        application().run(first -> {
            assertThat(first).hasNotFailed();
            assertThat(first.getBean(LockTemplate.class)
                            .<Boolean, RuntimeException>execute("order:1", lock -> lock.isHeld()))
                    .isTrue();
        });
        assertThat(database.relationsAndFunctions()).contains("syncguard_locks", "syncguard_fences");
    }

    private ApplicationContextRunner application() {
        return Applications.withFlyway(database.url()).withPropertyValues("syncguard.fencing.enabled=true");
    }

    private String history() {
        List<String> scripts = database.jdbc().queryForList("SELECT script FROM flyway_schema_history", String.class);
        return scripts.toString();
    }

    private static Arguments then(String name, String... properties) {
        return then(name, application -> application.withPropertyValues(properties));
    }

    private static Arguments then(String name, UnaryOperator<ApplicationContextRunner> change) {
        return Arguments.of(name, change);
    }
}
