package io.syncguard.verification.wakeups;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.queue.QueueServer;
import io.syncguard.verification.queue.QueueStore;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No wake-up and no hand-over is lost: processes whose safety poll comes once in an hour, and whose leases live for
 * hours, do all their work.
 *
 * <p>{@code -Dsyncguard.stress.seconds} makes each run longer, {@code .seed} repeats its choices.
 */
@Tag("verification")
@ParameterizedClass
@EnumSource(QueueStore.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WakeUpStressTests {

    private static final int PROCESSES = 8;

    private static final long SEED = Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE));

    @Parameter
    private QueueStore store;

    private QueueServer server;
    private WakeUpRun run;

    @BeforeParameterizedClassInvocation
    void start() {
        server = store.start();
        run = new WakeUpRun(PROCESSES, server, Bug.NONE, SEED);
    }

    @AfterParameterizedClassInvocation
    void end() {
        run.close();
        server.close();
    }

    @Test
    void two_processes_do_all_their_work() {
        assertDone(work("two", 2, 8, 3, () -> {}));
    }

    @Test
    void eight_processes_do_all_their_work() {
        assertDone(work("eight", 8, 4, 2, () -> {}));
    }

    @Test
    void processes_whose_listening_connections_are_terminated_again_and_again_do_all_their_work() {
        assertDone(work("terminated", 2, 8, 2, server::endListener));
    }

    private WakeUpReport work(String name, int processes, int threads, int seconds, Runnable disturbance) {
        WakeUpReport report = run.work(
                name, processes, threads, Integer.getInteger("syncguard.stress.seconds", seconds), disturbance);
        System.out.println("wake-ups of " + name + " with -Dsyncguard.stress.seed=" + SEED + ": " + report);
        return report;
    }

    private static void assertDone(WakeUpReport report) {
        assertThat(report.stuck()).as("threads with work left").isZero();
        assertThat(report.failed()).as("calls that failed").isZero();
        assertThat(report.longestWaitMillis()).as("the longest wait").isLessThan(WakeUpWorker.PATIENCE.toMillis());
        assertThat(report.isEnough())
                .as("hand-overs, and at least one of each other kind: " + report)
                .isTrue();
    }
}
