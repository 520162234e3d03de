package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Where the source of the fences is configured. */
class FencesPropertyTests {

    private static final String CLOCK = "syncguard.fences=clock";

    /** A fence that the clock gave in the year 1973. */
    private static final long THE_CLOCK = 10_000_000_000_000L;

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void fences_come_from_counters_when_nothing_is_said() {
        application()
                .run(application -> assertThat(fence(application.getBean(LockTemplate.class)))
                        .isEqualTo(1));
    }

    @Test
    void fences_come_from_the_clock_on_request() {
        application()
                .withPropertyValues(CLOCK)
                .run(application -> assertThat(fence(application.getBean(LockTemplate.class)))
                        .isGreaterThan(THE_CLOCK));
    }

    @Test
    void flyway_is_told_the_source_and_runs_the_script_again_when_it_changes() {
        withFlyway()
                .run(first ->
                        assertThat(fence(first.getBean(LockTemplate.class))).isEqualTo(1));

        withFlyway()
                .withPropertyValues(CLOCK)
                .run(second ->
                        assertThat(fence(second.getBean(LockTemplate.class))).isGreaterThan(THE_CLOCK));
    }

    /** Flyway runs before the library can look. */
    @Test
    void the_script_itself_refuses_the_change_back() {
        withFlyway().withPropertyValues(CLOCK).run(first -> assertThat(first).hasNotFailed());

        withFlyway()
                .run(second -> assertThat(second)
                        .getFailure()
                        .hasStackTraceContaining("The fences of syncguard_locks come from the clock"));

        assertThat(database.jdbc().queryForObject("SELECT syncguard_locks_fence_source()", String.class))
                .isEqualTo("clock");
    }

    private ApplicationContextRunner application() {
        return Applications.on(database.url());
    }

    private ApplicationContextRunner withFlyway() {
        return Applications.withFlyway(database.url())
                .withPropertyValues("syncguard.postgres.schema-management=flyway");
    }

    private static long fence(LockTemplate locks) {
        return locks.execute("order:1", lock -> lock.fence().value());
    }
}
