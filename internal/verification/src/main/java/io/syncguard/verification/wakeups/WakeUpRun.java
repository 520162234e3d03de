package io.syncguard.verification.wakeups;

import io.syncguard.testing.ChildJvm;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.queue.QueueServer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Processes whose waiters depend on wake-ups alone, on one server. */
final class WakeUpRun implements AutoCloseable {

    /** The extra time that a run may take on a busy machine until it has enough events. */
    private static final int LIMIT_SECONDS = 30;

    private static final long SECOND = 1_000_000_000L;

    private final List<ChildJvm> children;
    private final long seed;

    /** @param bug the bug of the processes, usually none */
    WakeUpRun(int processes, QueueServer server, Bug bug, long seed) {
        this.children = Stream.generate(() -> ChildJvm.start(WakeUpWorker.class, server.url(), bug.toString()))
                .limit(processes)
                .toList();
        this.seed = seed;
    }

    /**
     * Lets some of the processes work for these seconds, and longer until every kind of event has occurred.
     *
     * @param name the name of the keys
     * @param disturbance called repeatedly
     */
    WakeUpReport work(String name, int processes, int threads, int seconds, Runnable disturbance) {
        List<ChildJvm> workers = children.subList(0, processes);
        // A process answers the first question when it has started.
        workers.forEach(worker -> worker.ask("progress"));
        Random random = new Random(seed);
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
        long end = System.nanoTime() + seconds * SECOND;
        long limit = end + LIMIT_SECONDS * SECOND;
        for (long now = 0; now < end || now < limit && !ask(workers, "progress").isEnough(); now = System.nanoTime()) {
            disturbance.run();
            LockSupport.parkNanos(SECOND / 5);
        }
        return ask(workers, "end");
    }

    private static WakeUpReport ask(List<ChildJvm> workers, String what) {
        Stream<String> reports = workers.stream().map(worker -> worker.ask(what));
        return WakeUpReport.sum(reports.map(WakeUpReport::ofLine).toList());
    }

    @Override
    public void close() {
        children.forEach(ChildJvm::close);
    }
}
