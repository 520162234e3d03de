package io.syncguard.verification;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
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

    /** The extra time that a run may take on a busy machine until it has enough events. */
    private static final int LIMIT_SECONDS = 30;

    private static final long SECOND = 1_000_000_000L;

    private static final long SEED = Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE));

    private final List<ChildJvm> children = new ArrayList<>();
    private final QueueServer server;

    /** @param server is closed after the last test */
    WakeUpStressContract(QueueServer server) {
        this.server = server;
    }

    @BeforeAll
    void start() {
        for (int i = 0; i < PROCESSES; i++) {
            children.add(ChildJvm.start(WakeUpWorker.class, server.url()));
        }
    }

    @AfterAll
    void end() {
        children.forEach(ChildJvm::close);
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
        List<ChildJvm> workers = children.subList(0, processes);
        // A process answers the first question when it has started.
        workers.forEach(worker -> worker.ask("progress"));
        Random random = new Random(SEED);
        for (ChildJvm worker : workers) {
            boolean shortens = worker == workers.get(0);
            worker.ask(String.join(
                    " ",
                    "work",
                    name,
                    Long.toString(random.nextLong()),
                    Integer.toString(threads),
                    Boolean.toString(shortens)));
        }
        long end = System.nanoTime() + Integer.getInteger("syncguard.stress.seconds", seconds) * SECOND;
        long limit = end + LIMIT_SECONDS * SECOND;
        for (long now = 0; now < end || now < limit && !ask(workers, "progress").isEnough(); now = System.nanoTime()) {
            disturbance.run();
            LockSupport.parkNanos(SECOND / 5);
        }
        WakeUpReport report = ask(workers, "end");
        System.out.println("wake-ups of " + name + " with -Dsyncguard.stress.seed=" + SEED + ": " + report);
        return report;
    }

    private static WakeUpReport ask(List<ChildJvm> workers, String what) {
        Stream<String> reports = workers.stream().map(worker -> worker.ask(what));
        return WakeUpReport.sum(reports.map(WakeUpReport::ofLine).toList());
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
