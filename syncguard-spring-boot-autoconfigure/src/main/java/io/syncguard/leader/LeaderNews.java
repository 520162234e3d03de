package io.syncguard.leader;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.ReadyThreads;
import io.syncguard.concurrent.Shielded;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Tells the listeners of one member, in order, each shielded from what the others throw, and the member from those that block.
 */
final class LeaderNews implements AutoCloseable {

    private static final Log log = LogFactory.getLog(LeaderListener.class);

    /** So many news may wait before those that can be missed are left out. */
    static final int MAX_PENDING = 100;

    /** Those of all elections. Written by the election. */
    private final List<LeaderListener> common;

    private final List<LeaderListener> own = new CopyOnWriteArrayList<>();

    private final String threadName;
    private final ThreadFactory threads;
    private final BlockingQueue<Runnable> pending = new LinkedBlockingQueue<>();

    /** One thread. Written under this, read by whoever has news. */
    private volatile @Nullable ReadyThreads teller;

    /** Guarded by this. */
    private boolean closed;

    LeaderNews(String threadName, List<LeaderListener> common, ThreadFactory threads) {
        this.threadName = threadName;
        this.common = common;
        this.threads = threads;
    }

    /** Makes the thread that tells, once and before there is anything to tell. It is kept: an election makes none. */
    synchronized void makeReady() {
        if (teller == null && !closed) {
            teller = new ReadyThreads(
                    DaemonThreadFactory.named(threadName, threads), 1, pending, new ThreadPoolExecutor.AbortPolicy());
        }
    }

    LeaderRegistration add(LeaderListener listener) {
        own.add(listener);
        return () -> own.remove(listener);
    }

    /** @return done when all have been told, or nobody will be any more */
    CompletableFuture<Void> tell(Consumer<LeaderListener> news) {
        ReadyThreads current = teller;
        if (current == null) {
            return CompletableFuture.completedFuture(null);
        }
        try {
            return CompletableFuture.runAsync(() -> tellAll(news), current);
        } catch (RejectedExecutionException ex) {
            log.debug("News of a leader were left out: the application has shut down", ex);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Leaves the news out when too many wait. */
    void tellIfPossible(Consumer<LeaderListener> news) {
        if (pending.size() < MAX_PENDING) {
            var unused = tell(news);
        } else {
            log.warn("Leader listeners are too slow: rotations of fences are left out, which changes nothing for the"
                    + " leader");
        }
    }

    /** News that are on their way are still told. */
    @Override
    public synchronized void close() {
        closed = true;
        if (teller != null) {
            teller.close();
        }
    }

    private void tellAll(Consumer<LeaderListener> news) {
        Stream.concat(common.stream(), own.stream()).forEach(listener -> tell(listener, news));
    }

    private static void tell(LeaderListener listener, Consumer<LeaderListener> news) {
        Shielded.run(
                () -> news.accept(listener),
                log,
                () -> "A leader listener failed, which changes nothing for the leader: " + listener);
    }
}
