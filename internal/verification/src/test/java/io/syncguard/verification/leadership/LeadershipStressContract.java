package io.syncguard.verification.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.leader.LeaderProcess;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.LeadershipTerms;
import io.syncguard.verification.leadership.LeadershipRun.Fault;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Several processes campaign while the leader is stopped, killed and cut off and the server restarts, and no two of
 * them can prove to lead at the same time.
 *
 * <p>{@code -Dsyncguard.stress.seed}, {@code .seconds} and {@code .workers} change the run, in which each fault happens
 * at least once.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LeadershipStressContract {

    private final LeadershipServer.Starter starter;
    private LeadershipRun run;
    private LeadershipTerms history;

    LeadershipStressContract(LeadershipServer.Starter starter) {
        this.starter = starter;
    }

    @BeforeAll
    void work() throws Exception {
        run = new LeadershipRun(StressSettings.fromSystemProperties(), starter);
        history = run.run();
        System.out.println("leadership with -Dsyncguard.stress.seed=" + run.seed() + ": "
                + history.terms().size() + " terms, " + history.proofs()
                + " proofs; milliseconds to the next term, with"
                + " a ttl of " + LeaderProcess.TTL.toMillis() + ": " + failOvers());
    }

    @AfterAll
    void end() throws Exception {
        run.stop();
        if (history != null && history.violations().isEmpty()) {
            run.deleteFiles();
        }
    }

    @Test
    void no_two_terms_overlap_and_fences_grow() {
        assertThat(history.violations())
                .as("with -Dsyncguard.stress.seed=" + run.seed())
                .isEmpty();
    }

    @Test
    void every_fault_happened_and_fences_were_rotated() {
        assertThat(run.faults()).containsOnlyKeys(Fault.possible().toArray(Fault[]::new));
        assertThat(history.terms()).anyMatch(term -> term.lastFence() > term.firstFence());
    }

    /** Returns the times of fail-overs after the faults that end every term, in milliseconds. */
    private Map<Fault, List<Long>> failOvers() {
        Map<Fault, List<Long>> millis = new EnumMap<>(Fault.class);
        run.faults().forEach((fault, moments) -> {
            if (fault.endsTerm()) {
                millis.put(fault, moments.stream().map(this::millisToNextTerm).toList());
            }
        });
        return millis;
    }

    private long millisToNextTerm(long moment) {
        return history.nanosToNextTerm(moment).orElseThrow() / 1_000_000;
    }
}
