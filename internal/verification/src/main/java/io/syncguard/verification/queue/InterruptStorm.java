package io.syncguard.verification.queue;

import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LockBackend;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.InterruptRules;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.KnownLockIds;
import io.syncguard.verification.recording.RecordedBackend;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Far more threads than connections acquire and release locks at a server without faults. Every few milliseconds the
 * storm interrupts one of them at an arbitrary point. It records all requests and answers.
 */
final class InterruptStorm implements AutoCloseable {

    private static final int THREADS = 40;
    private static final int CONNECTIONS = 4;
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration WAITER_TTL = Duration.ofSeconds(20);
    private static final long MILLI = 1_000_000;
    private static final long BETWEEN_INTERRUPTS_NANOS = 5 * MILLI;
    private static final long BETWEEN_LOOKS_NANOS = 50 * MILLI;

    /** The extra time that a storm may take on a busy machine until it has enough events. */
    private static final long LIMIT_NANOS = 30_000 * MILLI;

    private final QueueServer server;
    private final HistoryRecorder recorder;
    private final KnownLockIds known = new KnownLockIds();
    private final LockEngine locks;
    private final AtomicInteger handleReleased = new AtomicInteger();
    private final AtomicInteger aborted = new AtomicInteger();
    private final AtomicInteger waited = new AtomicInteger();

    /** Written by the test, read by the clients. */
    private volatile boolean ended;

    InterruptStorm(QueueServer server, Path history) {
        this.server = server;
        this.recorder = new HistoryRecorder("storm", history);
        LockBackend backend = ApplicationBackend.on(server.url(), CONNECTIONS, NETWORK_TIMEOUT, WAITER_TTL);
        this.locks = new LockEngine(
                new RecordedBackend(backend, recorder, known),
                DefaultSettings.of("storm"),
                TransactionBoundary.NONE,
                List.of(new LockListener() {
                    @Override
                    public void waitStarted(LockEvent event) {
                        waited.incrementAndGet();
                    }
                }));
    }

    /** Runs the storm. Returns the lock ids that are left in the store some time after all threads have ended. */
    Collection<String> run(Random random, int seconds) throws InterruptedException {
        // Connects before the storm, because the first connection is slow.
        locks.acquire(LockRequest.of("first")).release();
        long from = System.nanoTime();
        long end = from + seconds * 1000 * MILLI;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Client client = new Client(i, new Random(random.nextLong()));
            threads.add(new Thread(client, "client-" + i));
        }
        Thread observer = new Thread(this::observe, "observer");
        observer.start();
        threads.forEach(Thread::start);
        long limit = end + LIMIT_NANOS;
        for (long now = from; now < end || now < limit && !isEnough(); now = System.nanoTime()) {
            LockSupport.parkNanos(BETWEEN_INTERRUPTS_NANOS);
            interrupt(threads.get(random.nextInt(THREADS)));
        }
        ended = true;
        observer.join();
        for (Thread thread : threads) {
            thread.join();
        }
        Collection<String> left = awaitEmptyStore();
        long to = System.nanoTime();
        recorder.write(HistoryEvent.of(
                        Kind.UNDISTURBED,
                        recorder.begin(Kind.UNDISTURBED, "test", "", "").source(),
                        "",
                        "",
                        from)
                .answered(to, Outcome.OK));
        return left;
    }

    private boolean isEnough() {
        return handleReleased.get() >= 500 && aborted.get() >= 50 && waited.get() >= 50;
    }

    private void interrupt(Thread victim) {
        HistoryEvent interrupted = recorder.begin(Kind.INTERRUPTED, victim.getName(), "", "");
        victim.interrupt();
        recorder.write(interrupted.answered(System.nanoTime(), Outcome.OK));
    }

    private void observe() {
        while (!ended) {
            long before = System.nanoTime();
            for (String lockId : server.lockIds()) {
                HistoryEvent seen =
                        recorder.begin(Kind.SEEN, "observer", known.keyOf(lockId), HistoryRecorder.hash(lockId));
                recorder.write(HistoryEvent.of(Kind.SEEN, seen.source(), seen.key(), seen.lock(), before)
                        .answered(seen.start(), Outcome.OK));
            }
            LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
        }
    }

    private Collection<String> awaitEmptyStore() {
        long end = System.nanoTime() + InterruptRules.LEAVING_NANOS;
        Collection<String> left = server.lockIds();
        while (!left.isEmpty() && System.nanoTime() < end) {
            LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
            left = server.lockIds();
        }
        return left;
    }

    @Override
    public void close() {
        locks.close();
        recorder.close();
    }

    /** One thread. */
    private final class Client implements Runnable {

        private final String name;
        private final Random random;

        Client(int number, Random random) {
            this.name = "client-" + number;
            this.random = random;
        }

        @Override
        public void run() {
            while (!ended) {
                // No other thread uses this key, so only a leftover of this thread can conflict.
                use(
                        random.nextInt(100) < 70
                                ? LockRequest.of("own-" + name).waitTime(Duration.ZERO)
                                : LockRequest.of("line-" + random.nextInt(4)).waitTime(Duration.ofMillis(300)));
                Thread.interrupted();
            }
        }

        private void use(LockRequest request) {
            HistoryEvent asked = recorder.begin(Kind.ABORTED, name, request.key(), "");
            known.beginNext();
            try {
                LockHandle lock = locks.acquire(request);
                LockSupport.parkNanos(random.nextLong(MILLI));
                giveBack(lock);
            } catch (LockNotAcquiredException ex) {
                // Another thread holds it; the checker reports a refusal without a holder.
            } catch (LockException ex) {
                aborted.incrementAndGet();
                boolean asExpected = ex.code() == LockErrorCode.ABORTED
                        && Thread.currentThread().isInterrupted();
                String lockId = known.latestOfThread();
                recorder.write(asked.answered(System.nanoTime(), asExpected ? Outcome.OK : Outcome.FAILED)
                        .ofLock(lockId == null ? "" : HistoryRecorder.hash(lockId)));
            }
        }

        private void giveBack(LockHandle lock) {
            HistoryEvent asked =
                    recorder.begin(Kind.HANDLE_RELEASED, name, lock.key(), HistoryRecorder.hash(lock.lockId()));
            boolean wasHeld = lock.release();
            handleReleased.incrementAndGet();
            recorder.write(asked.answered(System.nanoTime(), wasHeld ? Outcome.OK : Outcome.NOT_HELD));
        }
    }
}
