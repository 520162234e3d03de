package io.syncguard.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Several processes use locks at random while they and the server are disturbed. The answers that they received fit the
 * contract.
 *
 * <p>{@code -Dsyncguard.stress.seed}, {@code .seconds}, {@code .workers} and {@code .clients} change the run, which is
 * short.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StressContract {

    /** The length of a run in a build. */
    private static final int SECONDS = 10;

    private final StressServer.Starter starter;
    private final int seconds;
    private StressRun run;
    private StressReport report;

    StressContract(StressServer.Starter starter) {
        this(starter, SECONDS);
    }

    /** @param seconds the length of a run in a build */
    StressContract(StressServer.Starter starter, int seconds) {
        this.starter = starter;
        this.seconds = seconds;
    }

    @BeforeAll
    void work() throws Exception {
        run = new StressRun(StressSettings.fromSystemProperties(seconds), starter);
        report = run.run();
        System.out.println(report);
    }

    @AfterAll
    void end() throws Exception {
        run.stop();
        if (report != null
                && report.violations().isEmpty()
                && report.complaints().isEmpty()) {
            run.deleteFiles();
        }
    }

    @Test
    void no_rule_is_broken() {
        assertThat(report.violations())
                .as(() -> report.violations().stream()
                                .collect(Collectors.groupingBy(Violation::rule, Collectors.counting()))
                        + " with -Dsyncguard.stress.seed="
                        + report.settings().seed())
                .isEmpty();
    }

    @Test
    void a_store_that_refuses_smaller_fences_sees_none_late() {
        assertThat(report.lateGuarded()).isZero();
    }

    @Test
    void no_lease_is_without_an_end() {
        assertThat(report.leasesWithoutEnd()).isZero();
    }

    @Test
    void no_worker_complains() {
        assertThat(report.complaints()).isEmpty();
    }

    @Test
    void everything_happened_that_is_to_be_judged() {
        assertThat(report.counts())
                .containsKeys(
                        "ACQUIRE OK",
                        "ACQUIRE REFUSED",
                        "ACQUIRE QUEUED",
                        "ACQUIRE UNKNOWN",
                        "EXTEND OK",
                        "EXTEND NOT_HELD",
                        "RELEASE OK",
                        "RELEASE NOT_HELD",
                        "RELEASE LEFT",
                        "RENEW OK",
                        "HANDED_OVER OK",
                        "LOOKUP OK",
                        "LOOKUP NOT_HELD",
                        "HELD OK",
                        "JOINED OK",
                        "HANDLE_RELEASED OK",
                        "HANDLE_RELEASED NOT_HELD",
                        "LOST OK",
                        "LOSS_SEEN OK",
                        "EFFECT OK",
                        "ENDED OK",
                        "INTERRUPTED OK",
                        "COUNTER OK")
                .containsKeys(run.ownEvents().toArray(String[]::new));
    }
}
