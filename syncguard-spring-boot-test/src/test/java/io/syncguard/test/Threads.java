package io.syncguard.test;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Other threads of a test. */
final class Threads {

    private Threads() {}

    static <T> FutureTask<T> start(Callable<T> work) {
        return start(work, true);
    }

    /** Starts a thread that does not know who started it, like those of a pool. */
    static <T> FutureTask<T> startUnrelated(Callable<T> work) {
        return start(work, false);
    }

    private static <T> FutureTask<T> start(Callable<T> work, boolean inherits) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(null, task, "another", 0, inherits);
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    static <T> T got(FutureTask<T> task) throws Exception {
        return task.get(10, TimeUnit.SECONDS);
    }

    static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(10)).pollInterval(Duration.ofMillis(2));
    }

    /** Blocks until it is counted down or interrupted. */
    static Callable<String> until(CountDownLatch end) {
        return () -> end.await(10, TimeUnit.SECONDS) ? "done" : "late";
    }
}
