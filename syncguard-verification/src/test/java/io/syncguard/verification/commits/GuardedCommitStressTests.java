package io.syncguard.verification.commits;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.CommitGuard;
import io.syncguard.verification.StressSettings;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Effects are committed in the order of their fences, wherever a process is paused; and only because of the guard. */
class GuardedCommitStressTests {

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void with_the_guard_effects_are_in_the_order_of_their_fences(int processes) {
        CommitReport report = run(processes, CommitGuard.REQUIRED);

        assertThat(report.outOfOrder()).as("out of order").isZero();
        assertThat(report.contradicted()).as("contradicted").isZero();
        assertThat(report.refused()).as("refused").isPositive();
        assertThat(report.effects()).isPositive();
    }

    /** Otherwise the test above would prove nothing. */
    @ParameterizedTest
    @ValueSource(ints = {2})
    void without_the_guard_stale_effects_are_committed(int processes) {
        assertThat(run(processes, CommitGuard.OFF).outOfOrder()).isPositive();
    }

    private static CommitReport run(int processes, CommitGuard guard) {
        StressSettings usual = StressSettings.fromSystemProperties();
        StressSettings settings = new StressSettings(usual.seed(), usual.seconds(), processes, 8);
        CommitReport report = new CommitRun(settings, guard).run();
        System.out.println("commits of " + processes + " processes, guard " + guard + ", with"
                + " -Dsyncguard.stress.seed=" + settings.seed() + ": " + report);
        return report;
    }
}
