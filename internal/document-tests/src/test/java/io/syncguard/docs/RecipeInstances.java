package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardFencingAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardIntegrationAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardMetricsAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardShedLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardWebAutoConfiguration;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.SortedAutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.context.WebApplicationContext;

/** Two instances of the application of a recipe, on one new PostgreSQL database. */
final class RecipeInstances {

    private final String url = PostgresServer.newDatabaseUrl();

    /** Access to the database without the instances. */
    final JdbcTemplate database = new JdbcTemplate(PostgresServer.dataSource(url));

    private final WebApplicationContextRunner application;

    /** @param schema the statements that create the application's own tables */
    RecipeInstances(Class<?> configuration, String schema, String... properties) {
        database.execute(schema);
        this.application = new WebApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        TransactionManagerCustomizationAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        PostgresLockAutoConfiguration.class,
                        SyncGuardAutoConfiguration.class,
                        SyncGuardFencingAutoConfiguration.class,
                        SyncGuardIntegrationAutoConfiguration.class,
                        SyncGuardMetricsAutoConfiguration.class,
                        SyncGuardShedLockAutoConfiguration.class,
                        SyncGuardWebAutoConfiguration.class))
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=2", "syncguard.shutdown-timeout=100ms")
                .withPropertyValues(properties)
                .withUserConfiguration(configuration);
    }

    interface Test {

        void run(WebApplicationContext one, WebApplicationContext two) throws Exception;
    }

    void run(Test test) {
        named("one").run(one -> {
            assertThat(one).hasNotFailed();
            named("two").run(two -> {
                assertThat(two).hasNotFailed();
                test.run(one, two);
            });
        });
    }

    /**
     * Returns an instance whose name is the owner of its locks, and the application name of its sessions at the server.
     */
    private WebApplicationContextRunner named(String name) {
        return application.withPropertyValues(
                "spring.datasource.url=" + url + (url.contains("?") ? "&" : "?") + "ApplicationName=" + name,
                "syncguard.owner=" + name);
    }

    /** Simulates the end of a process for the server: its sessions end, and its lease lapses. */
    void crash(String name, String key) {
        endLease(key);
        database.queryForList(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?", name);
    }

    /** Ends a lease at the server. Its holder does not know that yet. */
    void endLease(String key) {
        assertThat(database.update("DELETE FROM syncguard_locks WHERE key = ?", key))
                .isEqualTo(1);
    }

    long count(String table) {
        return database.queryForObject("SELECT count(*) FROM " + table, Long.class);
    }
}
