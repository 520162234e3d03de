package io.syncguard.leader;

import io.syncguard.OneLine;
import io.syncguard.concurrent.ReadyThreads;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A task that runs in each term, on a separate thread. The thread is made in advance, because an election must not
 * depend on a new thread. A run that ignores the interrupt and outlives its term delays the next run: two runs never
 * overlap.
 */
final class RepeatedTask implements LeaderRegistration {

    private static final Log log = LogFactory.getLog(RepeatedTask.class);

    private final String name;
    private final LeaderTask task;

    /** One thread. At most one term waits for it, the latest. */
    private final ReadyThreads runner;

    /** Guarded by this, like all that follows. */
    private boolean closed;

    private @Nullable TermBody running;

    private @Nullable LeaderTerm started;

    /** @param threads makes one thread at once */
    RepeatedTask(String name, LeaderTask task, ThreadFactory threads) {
        this.name = name;
        this.task = task;
        this.runner =
                new ReadyThreads(threads, 1, new ArrayBlockingQueue<>(1), new ThreadPoolExecutor.DiscardOldestPolicy());
    }

    /** Runs once in this term. An older term, which is over, does not replace a newer one that waits. */
    synchronized void start(LeaderTerm term) {
        if (term != started && term.isLeader()) {
            started = term;
            runner.execute(() -> run(term));
        }
    }

    /** Interrupts a run that is under way, unless that run closes this. */
    @Override
    public synchronized void close() {
        closed = true;
        runner.close();
        if (running != null) {
            running.shutDown();
        }
    }

    private void run(LeaderTerm term) {
        TermBody body = term.beginBody();
        if (body == null) {
            return;
        }
        running(body);
        try (body) {
            body.call(() -> {
                if (!isClosed()) {
                    task.run(term);
                }
                return term;
            });
        } catch (Throwable ex) {
            report(ex, term);
        } finally {
            running(null);
        }
    }

    private void report(Throwable failure, LeaderTerm term) {
        if (term.isLeader() && !isClosed()) {
            log.error(
                    "A task of the leader of '" + OneLine.of(name)
                            + "' failed, which does not end its leadership: it runs again"
                            + " when this process is elected again",
                    failure);
        } else {
            log.debug("A task of the leader of '" + OneLine.of(name) + "' ended with its term", failure);
        }
    }

    private synchronized void running(@Nullable TermBody body) {
        running = body;
    }

    private synchronized boolean isClosed() {
        return closed;
    }
}
