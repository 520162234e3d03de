package io.syncguard.micrometer;

import io.micrometer.core.instrument.LongTaskTimer;
import io.syncguard.Fence;
import io.syncguard.LockEvent;
import io.syncguard.LockMode;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the running time of the lock that has ended. Threads may share it.
 *
 * <p>A lock is known by its backend, its key and its fence. The fence may have been rotated since the grant, and the
 * event of a loss may come after the next grant of the key. So the time belongs to the grant with the largest fence
 * that is not larger than that of the end: rotated fences are larger than that of their grant, and smaller than that of
 * the next grant. The fence of a shared lock is never rotated.
 */
final class HoldingRecorder {

    private final ConcurrentNavigableMap<Grant, Holding> running = new ConcurrentSkipListMap<>();

    void begin(LockEvent event, LongTaskTimer timer) {
        if (event.fence() != null) {
            end(running.put(Grant.of(event, event.fence()), new Holding(timer.start())));
        }
    }

    void end(LockEvent event) {
        Grant begun = find(event);
        if (begun != null) {
            end(running.remove(begun));
        }
    }

    /** Runs the action when the lock ends. Returns false if it has ended. */
    boolean atEnd(LockEvent event, Runnable action) {
        Grant begun = find(event);
        Holding holding = begun == null ? null : running.get(begun);
        return holding != null && holding.atEnd(action);
    }

    private @Nullable Grant find(LockEvent event) {
        if (event.fence() == null) {
            return null;
        }
        Grant end = Grant.of(event, event.fence());
        Map.Entry<Grant, Holding> begun = running.floorEntry(end);
        boolean found = begun != null
                && (event.mode() == LockMode.SHARED
                        ? begun.getKey().equals(end)
                        : begun.getKey().isOfSameKey(end));
        return found ? begun.getKey() : null;
    }

    private static void end(@Nullable Holding holding) {
        if (holding != null) {
            holding.end();
        }
    }

    /** A lock that is held. Thread-safe. */
    private static final class Holding {

        private final LongTaskTimer.Sample sample;

        /** All guarded by this. */
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

    private record Grant(String backend, String key, Fence fence) implements Comparable<Grant> {

        private static final Comparator<Grant> ORDER =
                Comparator.comparing(Grant::backend).thenComparing(Grant::key).thenComparing(Grant::fence);

        static Grant of(LockEvent event, Fence fence) {
            return new Grant(event.backend(), event.key(), fence);
        }

        boolean isOfSameKey(Grant other) {
            return backend.equals(other.backend) && key.equals(other.key);
        }

        @Override
        public int compareTo(Grant other) {
            return ORDER.compare(this, other);
        }
    }
}
