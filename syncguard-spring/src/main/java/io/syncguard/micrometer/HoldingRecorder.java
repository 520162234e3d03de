package io.syncguard.micrometer;

import io.micrometer.core.instrument.LongTaskTimer;
import io.syncguard.LockEvent;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/** Measures how long locks are held, by the numbers of their grants. Thread-safe. */
final class HoldingRecorder {

    private final ConcurrentMap<Long, Holding> running = new ConcurrentHashMap<>();

    void begin(LockEvent event, LongTaskTimer timer) {
        running.put(event.grant(), new Holding(timer.start()));
    }

    void end(LockEvent event) {
        Holding holding = running.remove(event.grant());
        if (holding != null) {
            holding.end();
        }
    }

    /** Runs the action when the lock ends. Returns false if it has ended. */
    boolean atEnd(LockEvent event, Runnable action) {
        Holding holding = running.get(event.grant());
        return holding != null && holding.atEnd(action);
    }

    /** A lock that is held. Thread-safe. */
    private static final class Holding {

        private final LongTaskTimer.Sample sample;

        /** Guarded by this object, like {@link #atEnd}. */
        private boolean ended;

        private @Nullable Runnable atEnd;

        Holding(LongTaskTimer.Sample sample) {
            this.sample = sample;
        }

        synchronized boolean atEnd(Runnable action) {
            atEnd = action;
            return !ended;
        }

        synchronized void end() {
            ended = true;
            sample.stop();
            if (atEnd != null) {
                atEnd.run();
            }
        }
    }
}
