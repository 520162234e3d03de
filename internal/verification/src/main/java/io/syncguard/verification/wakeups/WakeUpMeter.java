package io.syncguard.verification.wakeups;

import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the outcomes of waits, and measures the longest wait. All threads of the process share it. */
final class WakeUpMeter implements LockListener {

    private final AtomicInteger handedOver = new AtomicInteger();
    private final AtomicInteger fetched = new AtomicInteger();
    private final AtomicInteger gaveUp = new AtomicInteger();
    private final AtomicInteger interrupted = new AtomicInteger();
    private final AtomicInteger shortened = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong longestWaitNanos = new AtomicLong();
    private final AtomicLong longestCalmWaitNanos = new AtomicLong();
    private final ThreadLocal<Boolean> waited = ThreadLocal.withInitial(() -> false);

    /** Whether the last acquire request of the thread was granted. */
    private final ThreadLocal<Boolean> granted = ThreadLocal.withInitial(() -> false);

    /** Returns a backend that observes the answers to acquire requests. */
    LockBackend watched(LockBackend backend) {
        return new ForwardingBackend(backend) {
            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                List<AcquireResult> answers = Answers.await(() -> super.acquire(requests, extent));
                granted.set(answers.get(0) instanceof AcquireResult.Granted);
                return CompletableFuture.completedFuture(answers);
            }
        };
    }

    @Override
    public void waitEnded(LockEvent event) {
        waited.set(true);
    }

    @Override
    public void acquired(LockEvent event) {
        if (waited.get()) {
            (granted.get() ? fetched : handedOver).incrementAndGet();
            waited.set(false);
        }
    }

    void waited(long nanos, boolean calm) {
        longestWaitNanos.accumulateAndGet(nanos, Math::max);
        if (calm) {
            longestCalmWaitNanos.accumulateAndGet(nanos, Math::max);
        }
    }

    void gaveUp() {
        waited.set(false);
        gaveUp.incrementAndGet();
    }

    void interrupted() {
        waited.set(false);
        interrupted.incrementAndGet();
    }

    void shortened() {
        shortened.incrementAndGet();
    }

    void failed(LockException ex) {
        failed.incrementAndGet();
        ex.printStackTrace();
    }

    void reset() {
        List.of(handedOver, fetched, gaveUp, interrupted, shortened, failed).forEach(counter -> counter.set(0));
        longestWaitNanos.set(0);
        longestCalmWaitNanos.set(0);
    }

    /** @param stuck number of threads that have not ended their work */
    WakeUpReport report(int stuck) {
        return new WakeUpReport(
                stuck,
                handedOver.get(),
                fetched.get(),
                gaveUp.get(),
                interrupted.get(),
                shortened.get(),
                failed.get(),
                longestWaitNanos.get() / 1_000_000,
                longestCalmWaitNanos.get() / 1_000_000);
    }
}
