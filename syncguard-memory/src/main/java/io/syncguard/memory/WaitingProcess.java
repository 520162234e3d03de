package io.syncguard.memory;

import io.syncguard.rules.WakeUp;
import io.syncguard.spi.WakeUpListener;
import org.jspecify.annotations.Nullable;

/** A process on an {@link InMemoryStore}: what its waiters receive. Thread-safe. */
final class WaitingProcess {

    private final String channel;

    /** Written by the engine before its first request, read by all. */
    private volatile @Nullable WakeUpListener engine;

    /** Written by a test, read by all. */
    private volatile boolean deliversWakeUps = true;

    WaitingProcess(String channel) {
        this.channel = channel;
    }

    void connect(WakeUpListener listener) {
        engine = listener;
    }

    void deliverWakeUps(boolean delivers) {
        deliversWakeUps = delivers;
    }

    boolean deliversWakeUps() {
        return deliversWakeUps;
    }

    /** Where its waiters receive messages; {@code null} without an engine. */
    @Nullable
    String channel() {
        return engine == null ? null : channel;
    }

    void receive(WakeUp message) {
        WakeUpListener listener = engine;
        if (!deliversWakeUps || listener == null) {
            return;
        }
        if (message.handOver() == null) {
            listener.wake(message.waiterNumber());
        } else {
            listener.handOver(message.waiterNumber(), message.handOver());
        }
    }
}
