package io.syncguard.verification.stress;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.Violation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
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

    /** While a run on a busy machine has not seen everything that is to be judged, another one follows. */
    private static final int MOST_RUNS = 5;

    private static final Set<String> EVENTS = Set.of(
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
            "COUNTER OK");

    private final StressServer.Starter starter;
    private final int seconds;
    private final List<StressReport> reports = new ArrayList<>();
    private final Set<String> unseen = new HashSet<>(EVENTS);

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
        do {
            runOnce();
        } while (!unseen.isEmpty() && reports.stream().allMatch(StressReport::isClean) && reports.size() < MOST_RUNS);
    }

    private void runOnce() throws Exception {
        OwnStressRun run = new OwnStressRun(StressSettings.fromSystemProperties(seconds), starter);
        StressReport report;
        try {
            report = run.run();
        } finally {
            run.stop();
        }
        System.out.println(report);
        if (reports.isEmpty()) {
            unseen.addAll(run.ownEvents());
        }
        unseen.removeAll(report.counts().keySet());
        reports.add(report);
        if (report.isClean()) {
            run.deleteFiles();
        }
    }

    @Test
    void no_rule_is_broken() {
        assertThat(reports)
                .allSatisfy(report -> assertThat(report.violations())
                        .as(() -> report.violations().stream()
                                        .collect(Collectors.groupingBy(Violation::rule, Collectors.counting()))
                                + " with -Dsyncguard.stress.seed="
                                + report.settings().seed())
                        .isEmpty());
    }

    @Test
    void a_store_that_refuses_smaller_fences_sees_none_late() {
        assertThat(reports).extracting(StressReport::lateGuarded).containsOnly(0L);
    }

    @Test
    void no_lease_is_without_an_end() {
        assertThat(reports).extracting(StressReport::leasesWithoutEnd).containsOnly(0L);
    }

    @Test
    void no_worker_complains() {
        assertThat(reports).allSatisfy(report -> assertThat(report.complaints()).isEmpty());
    }

    @Test
    void everything_happened_that_is_to_be_judged() {
        assertThat(unseen).as(() -> "missing in " + counts()).isEmpty();
    }

    private List<Map<String, Long>> counts() {
        return reports.stream().map(StressReport::counts).toList();
    }
}
