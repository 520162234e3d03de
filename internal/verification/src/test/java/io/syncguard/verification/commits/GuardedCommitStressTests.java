package io.syncguard.verification.commits;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.CommitGuard;
import io.syncguard.verification.StressSettings;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Effects are committed in the order of their fences, wherever a process is paused; and only because of the guard. */
@Tag("verification")
class GuardedCommitStressTests {

    /** On a busy machine, the first stale effect may take so many times the usual time. */
    private static final int MOST_TIMES = 10;

    @Test
    void with_the_guard_effects_are_in_the_order_of_their_fences() {
        assertInOrder(2);
    }

    @Test
    void they_are_in_order_with_more_processes() {
        assertInOrder(4);
    }

    private static void assertInOrder(int processes) {
        CommitReport report = report(new CommitRun(settings(processes, 1), CommitGuard.REQUIRED), run -> false);

        assertThat(report.outOfOrder()).as("out of order").isZero();
        assertThat(report.contradicted()).as("contradicted").isZero();
        assertThat(report.refused()).as("refused").isPositive();
        assertThat(report.effects()).isPositive();
    }

    /** Otherwise the test above would prove nothing. */
    @Test
    void without_the_guard_stale_effects_are_committed() {
        CommitRun commits = new CommitRun(settings(2, MOST_TIMES), CommitGuard.OFF);

        assertThat(report(commits, run -> run.outOfOrder() > 0).outOfOrder()).isPositive();
    }

    private static StressSettings settings(int processes, int times) {
        StressSettings usual = StressSettings.fromSystemProperties();
        return new StressSettings(usual.seed(), times * usual.seconds(), processes, 8);
    }

    private static CommitReport report(CommitRun commits, Predicate<CommitRun> isEnough) {
        CommitReport report = commits.run(() -> isEnough.test(commits));
        System.out.println("commits: " + commits + ": " + report);
        return report;
    }
}
