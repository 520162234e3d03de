package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The source of the fences belongs to the tables: it may change from counters to the clock, and not back. */
class FenceSourceTests {

    private static final String CLOCK = "syncguard.fences=clock";
    private static final String NONE = "syncguard.postgres.schema-management=none";

    /** Of a fence by the clock, in the year 1973. */
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
    void the_change_to_the_clock_reaches_processes_that_run_already_and_no_fence_is_smaller() {
        application().run(before -> {
            assertThat(fence(before.getBean(LockTemplate.class))).isEqualTo(1);
            // Enough for the server to choose a plan that it keeps.
            for (int i = 2; i < 12; i++) {
                assertThat(fence(before.getBean(LockTemplate.class))).isEqualTo(i);
            }
            application().withPropertyValues(CLOCK).run(after -> {
                long first = fence(after.getBean(LockTemplate.class));
                assertThat(first).isGreaterThan(THE_CLOCK);
                assertThat(fence(before.getBean(LockTemplate.class))).isGreaterThan(first);
            });
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "initialize", "none"})
    void the_change_back_is_refused(String management) {
        application().withPropertyValues(CLOCK).run(first -> assertThat(first).hasNotFailed());

        assertRefused(
                application().withPropertyValues("syncguard.postgres.schema-management=" + management),
                "syncguard.fences is counter",
                "would begin at 1 again",
                "Set syncguard.fences=clock");

        application().withPropertyValues(CLOCK).run(again -> assertThat(again).hasNotFailed());
    }

    @Test
    void where_the_library_makes_nothing_the_start_says_how_to_change_to_the_clock() {
        application().run(first -> assertThat(first).hasNotFailed());

        assertRefused(
                application().withPropertyValues(NONE, CLOCK),
                "syncguard.fences is clock",
                "Run db/syncguard/postgresql/R__syncguard_schema.sql again",
                "syncguard_fence_source=clock");
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

    @Test
    void a_retention_below_a_day_is_refused() {
        assertRefused(
                application().withPropertyValues(CLOCK, "syncguard.fence-retention=23h"),
                "syncguard.fence-retention is 23h, but has to be between 1d and 3650d");
    }

    private ApplicationContextRunner application() {
        return Applications.on(database.url());
    }

    private ApplicationContextRunner withFlyway() {
        return Applications.withFlyway(database.url())
                .withPropertyValues("syncguard.postgres.schema-management=flyway");
    }

    private static void assertRefused(ApplicationContextRunner runner, String... messages) {
        runner.run(application -> assertThat(application)
                .getFailure()
                .rootCause()
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .satisfies(failure -> assertThat(failure.getMessage()).contains(messages)));
    }

    private static long fence(LockTemplate locks) {
        return locks.execute("order:1", lock -> lock.fence().value());
    }
}
