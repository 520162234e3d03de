package io.syncguard.verification.queue;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/**
 * Hundreds of threads of one process wait. The test interrupts all of them at once, just before their key becomes free.
 * A caller in another process waits behind them. Other threads of the first process exhaust its connections meanwhile.
 */
final class ManyLeavers implements AutoCloseable {

    private static final String KEY = "wanted";
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final int CONNECTIONS = 8;
    private static final int CALLERS = 2 * CONNECTIONS;

    /** Long, because all threads queue at once and none may give up for lack of a connection. */
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(40);

    private final QueueServer server;
    private final LockEngine leaving;
    private final LockEngine staying;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private int rounds;

    /** Written by the test, read by the callers, which use no connections while the others queue. */
    private volatile boolean calling;

    private volatile boolean closed;

    ManyLeavers(QueueServer server) {
        this.server = server;
        this.leaving = engine(server, "leaving");
        this.staying = engine(server, "staying");
        IntStream.range(0, CALLERS).forEach(i -> threads.submit(() -> callAgainAndAgain("caller-" + i)));
    }

    private void callAgainAndAgain(String key) {
        while (!closed) {
            if (calling) {
                leaving.acquire(LockRequest.of(key)).release();
            } else {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private static LockEngine engine(QueueServer server, String owner) {
        return new LockEngine(
                ApplicationBackend.on(server.url(), CONNECTIONS, NETWORK_TIMEOUT),
                DefaultSettings.of(owner),
                TransactionBoundary.NONE,
                List.of());
    }

    /**
     * Runs one round.
     *
     * @param ahead number of waiters in front of the remaining one
     * @param elsewhere number of waiters for other keys, which are interrupted first
     * @return how long the key was free until the remaining waiter had it
     */
    Duration interruptAll(int ahead, int elsewhere) throws Exception {
        String key = KEY + ++rounds;
        List<LockHandle> held = new ArrayList<>(List.of(staying.acquire(LockRequest.of(key))));
        List<Leaver> leavers = new ArrayList<>();
        int othersPerKey = 20;
        for (int i = 0; i < elsewhere; i++) {
            String other = key + "-" + i / othersPerKey;
            if (i % othersPerKey == 0) {
                held.add(staying.acquire(LockRequest.of(other)));
            }
            leavers.add(new Leaver(other));
        }
        IntStream.range(0, ahead).forEach(i -> leavers.add(new Leaver(key)));
        List<Future<Boolean>> left = leavers.stream().map(threads::submit).toList();
        awaitWaiters(key, ahead);
        for (int i = 1; i < held.size(); i++) {
            awaitWaiters(held.get(i).key(), Math.min(othersPerKey, elsewhere - (i - 1) * othersPerKey));
        }
        calling = true;
        Future<Long> stayer = threads.submit(() -> {
            LockHandle lock = staying.acquire(LockRequest.of(key).waitTime(PATIENCE));
            long grantedAt = System.nanoTime();
            lock.release();
            return grantedAt;
        });
        awaitWaiters(key, ahead + 1);

        leavers.forEach(Leaver::interrupt);
        held.get(0).release();
        long releasedAt = System.nanoTime();
        long grantedAt = stayer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        calling = false;
        for (Future<Boolean> each : left) {
            if (!each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("An interrupted waiter did not report the interrupt, or lost the flag");
            }
        }
        held.forEach(LockHandle::release);
        // The next round begins without waiters.
        awaitWaiters(key, 0);
        for (LockHandle other : held) {
            awaitWaiters(other.key(), 0);
        }
        return Duration.ofNanos(Math.max(0, grantedAt - releasedAt));
    }

    private void awaitWaiters(String key, int count) {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> server.waiters(key) == count);
    }

    @Override
    public void close() {
        closed = true;
        threads.shutdown();
        leaving.close();
        staying.close();
    }

    /** One thread that waits. */
    private final class Leaver implements Callable<Boolean> {

        private final String key;

        /** Written by the thread before it has a queue entry, read after that. */
        private volatile Thread thread;

        Leaver(String key) {
            this.key = key;
        }

        void interrupt() {
            thread.interrupt();
        }

        /** Returns whether it reported the interrupt or was granted the key, and its flag is still set. */
        @Override
        public Boolean call() {
            thread = Thread.currentThread();
            try {
                // The grant may come before the thread runs again.
                leaving.acquire(LockRequest.of(key).waitTime(PATIENCE)).release();
            } catch (LockException ex) {
                if (ex.code() != LockErrorCode.ABORTED) {
                    return false;
                }
            }
            return Thread.interrupted();
        }
    }
}
