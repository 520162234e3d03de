package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import java.util.Map;
import liquibase.exception.LiquibaseException;
import liquibase.integration.spring.SpringLiquibase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;

/** The script as a change of Liquibase, as docs/postgresql.md describes it. */
class LiquibaseTests {

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void the_script_runs_on_an_empty_database() throws Exception {
        migrate("counter");
        locks("counter");

        migrate("counter");
        assertThat(database.jdbc().queryForList("SELECT id FROM databasechangelog", String.class))
                .containsExactly("syncguard-counter");
    }

    @Test
    void the_script_runs_on_a_database_that_the_library_has_set_up() throws Exception {
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.schema-management=initialize")
                .run(application -> assertThat(application).hasNotFailed());

        migrate("counter");

        locks("counter");
    }

    @Test
    void a_change_of_the_source_of_fences_runs_it_again() throws Exception {
        migrate("counter");
        migrate("clock");

        locks("clock");
    }

    /** {@code spring.liquibase.drop-first}: Liquibase drops the tables, and leaves the functions. */
    @ParameterizedTest
    @ValueSource(strings = {"counter", "clock"})
    void the_script_runs_again_after_liquibase_has_dropped_the_tables(String fences) throws Exception {
        migrate(fences);
        locks(fences);
        List<String> before = database.relationsAndFunctions();

        SpringLiquibase dropping = liquibase(fences);
        dropping.setDropFirst(true);
        dropping.afterPropertiesSet();

        assertThat(database.relationsAndFunctions()).isEqualTo(before);
        assertThat(database.jdbc().queryForList("SELECT fence_key FROM syncguard_fence_counters"))
                .isEmpty();
        locks(fences);
    }

    private void migrate(String fences) throws LiquibaseException {
        liquibase(fences).afterPropertiesSet();
    }

    private SpringLiquibase liquibase(String fences) {
        SpringLiquibase liquibase = new SpringLiquibase();
        liquibase.setDataSource(PostgresServer.dataSource(database.url()));
        liquibase.setResourceLoader(new DefaultResourceLoader());
        liquibase.setChangeLog("classpath:liquibase/changelog.yaml");
        liquibase.setChangeLogParameters(Map.of(
                "syncguard_locks", "syncguard_locks",
                "syncguard_fence_counters", "syncguard_fence_counters",
                "syncguard_fence_source", fences));
        liquibase.setAnalyticsEnabled(false);
        return liquibase;
    }

    private void locks(String fences) {
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.schema-management=none", "syncguard.fences=" + fences)
                .run(application -> assertThat(application
                                .getBean(LockTemplate.class)
                                .<Boolean, RuntimeException>execute("order:42", lock -> lock.isHeld()))
                        .isTrue());
    }
}
