package io.syncguard.verification.wakeups;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.queue.QueueServer;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * No wake-up and no hand-over is lost: processes whose safety poll comes once in an hour, and whose leases live for
 * hours, do all their work.
 *
 * <p>{@code -Dsyncguard.stress.seconds} makes each run longer, {@code .seed} repeats its choices.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WakeUpStressContract {

    private static final int PROCESSES = 8;

    private static final long SEED = Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE));

    private final QueueServer server;
    private WakeUpRun run;

    /** @param server is closed after the last test */
    WakeUpStressContract(QueueServer server) {
        this.server = server;
    }

    @BeforeAll
    void start() {
        run = new WakeUpRun(PROCESSES, server, Bug.NONE, SEED);
    }

    @AfterAll
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
