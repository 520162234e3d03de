package io.syncguard.memory;

import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import org.jspecify.annotations.Nullable;

/** A process on an {@link InMemoryStore}, as the queues see it: what wakes its waiters. Thread-safe. */
final class WaitingProcess {

    /** Written by the engine before its first request, read by all. */
    private volatile @Nullable WakeUpListener engine;

    /** Written by a test, read by all. */
    private volatile boolean deliversWakeUps = true;

    void connect(WakeUpListener listener) {
        engine = listener;
    }

    void deliverWakeUps(boolean delivers) {
        deliversWakeUps = delivers;
    }

    boolean deliversWakeUps() {
        return deliversWakeUps;
    }

    boolean isListening() {
        return engine != null;
    }

    void wake(long waiter) {
        WakeUpListener listener = engine;
        if (deliversWakeUps && listener != null) {
            listener.wake(waiter);
        }
    }

    void handOver(long waiter, AcquireResult.Granted grant) {
        WakeUpListener listener = engine;
        if (deliversWakeUps && listener != null) {
            listener.handOver(waiter, grant);
        }
    }
}
