package io.syncguard.actuate;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Protects the stores from many readers: one list runs at a time, and readers with the same question share its answer.
 * A list runs in the thread {@code syncguard-list}, so it goes on when its reader has gone. Thread-safe.
 *
 * @param <Q> a question, equal to the same question of another reader
 */
final class SharedLists<Q> implements AutoCloseable {

    /** An answer that took longer is reused for {@value #REST} times as long as it took. */
    static final Duration CHEAP = Duration.ofMillis(500);

    /** With this factor, an expensive list runs for at most a fifth of the time. */
    private static final int REST = 4;

    /** Maximum number of lists that wait for the running one. */
    static final int MAX_QUEUED = 8;

    /** Maximum number of questions with remembered answers. */
    private static final int MAX_REMEMBERED = 32;

    private static final ListedLocks NOTHING = new ListedLocks(List.of(), null, null);

    private final ThreadPoolExecutor thread;
    private final Duration maxWait;
    private final Time time;

    /** Guarded by itself. */
    private final Map<Q, Listing> listings = new LinkedHashMap<>() {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Q, Listing> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };

    /** @param maxWait maximum wait of a reader for an answer */
    SharedLists(Duration maxWait, Time time) {
        this.maxWait = maxWait;
        this.time = time;
        this.thread = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_QUEUED),
                DaemonThreadFactory.named("syncguard-list"));
        thread.allowCoreThreadTimeOut(true);
    }

    /**
     * Begins a list, and returns its answer later. If that does not come in time from now on, or fails, the previous
     * one takes its place, marked as incomplete.
     */
    Supplier<ListedLocks> begin(Q question, Supplier<ListedLocks> list) {
        long until = time.nanoTime() + maxWait.toNanos();
        Listing listing = listing(question, list);
        return () -> await(listing, until);
    }

    private ListedLocks await(Listing listing, long until) {
        try {
            return listing.answer.get(Math.max(0, until - time.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException ex) {
            return late(listing.before);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return late(listing.before);
        } catch (ExecutionException ex) {
            return listing.before.old(failure(ex.getCause()));
        }
    }

    /** Does not reuse answers of lists that began before this call. */
    void forgetAll() {
        synchronized (listings) {
            listings.clear();
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }

    private Listing listing(Q question, Supplier<ListedLocks> list) {
        synchronized (listings) {
            Listing known = listings.get(question);
            if (known != null && known.isFresh()) {
                return known;
            }
            Listing next = new Listing(list, known == null ? NOTHING : known.lastAnswer());
            try {
                thread.execute(next);
                listings.put(question, next);
            } catch (RejectedExecutionException ex) {
                next.answer.complete(late(next.before));
            }
            return next;
        }
    }

    private ListedLocks late(ListedLocks before) {
        return before.old("The store has not answered within " + maxWait.toMillis() + " ms");
    }

    private static LockException failure(@Nullable Throwable cause) {
        return cause instanceof LockException known
                ? known
                : new LockException(LockErrorCode.INTERNAL, "The list of locks has failed", cause);
    }

    /** One run of a list. */
    private final class Listing implements Runnable {

        private final Supplier<ListedLocks> list;
        private final ListedLocks before;
        private final CompletableFuture<ListedLocks> answer = new CompletableFuture<>();

        /** Written by the thread of the lists before it completes the answer. */
        private volatile long freshUntil;

        Listing(Supplier<ListedLocks> list, ListedLocks before) {
            this.list = list;
            this.before = before;
        }

        @Override
        public void run() {
            long begun = time.nanoTime();
            try {
                ListedLocks found = list.get().readAt(begun);
                long took = time.nanoTime() - begun;
                freshUntil = took < CHEAP.toNanos() ? begun : time.nanoTime() + REST * took;
                answer.complete(found);
            } catch (Throwable ex) {
                answer.completeExceptionally(ex);
            }
        }

        boolean isFresh() {
            return !answer.isDone() || time.nanoTime() < freshUntil;
        }

        ListedLocks lastAnswer() {
            return answer.isCompletedExceptionally() ? before : answer.getNow(before);
        }
    }
}
