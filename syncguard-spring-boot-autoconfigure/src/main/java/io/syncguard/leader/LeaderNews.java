package io.syncguard.leader;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

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

    /** One thread that ends when there has been nothing to tell for a while. */
    private final ThreadPoolExecutor teller;

    LeaderNews(String threadName, List<LeaderListener> common) {
        this.common = common;
        this.teller = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, threadName);
            thread.setDaemon(true);
            return thread;
        });
        teller.allowCoreThreadTimeOut(true);
    }

    LeaderRegistration add(LeaderListener listener) {
        own.add(listener);
        return () -> own.remove(listener);
    }

    /** @return done when all have been told, or nobody will be any more */
    CompletableFuture<Void> tell(Consumer<LeaderListener> news) {
        try {
            return CompletableFuture.runAsync(() -> tellAll(news), teller);
        } catch (RejectedExecutionException ex) {
            log.debug("News of a leader were left out: the application has shut down", ex);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Leaves the news out when too many wait. */
    void tellIfPossible(Consumer<LeaderListener> news) {
        if (teller.getQueue().size() < MAX_PENDING) {
            var unused = tell(news);
        } else {
            log.warn("Leader listeners are too slow: rotations of fences are left out, which changes nothing for the"
                    + " leader");
        }
    }

    /** News that are on their way are still told. */
    @Override
    public void close() {
        teller.shutdown();
    }

    private void tellAll(Consumer<LeaderListener> news) {
        Stream.concat(common.stream(), own.stream()).forEach(listener -> tell(listener, news));
    }

    private static void tell(LeaderListener listener, Consumer<LeaderListener> news) {
        try {
            news.accept(listener);
        } catch (RuntimeException | Error ex) {
            log.warn("A leader listener failed, which changes nothing for the leader: " + listener, ex);
        }
    }
}
