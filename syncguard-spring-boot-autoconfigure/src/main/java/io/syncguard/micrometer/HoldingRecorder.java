package io.syncguard.micrometer;

import io.micrometer.core.instrument.LongTaskTimer;
import io.syncguard.Fence;
import io.syncguard.LockEvent;
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
 * the next grant.
 */
final class HoldingRecorder {

    private final ConcurrentNavigableMap<Grant, LongTaskTimer.Sample> running = new ConcurrentSkipListMap<>();

    void begin(LockEvent event, LongTaskTimer timer) {
        if (event.fence() != null) {
            stop(running.put(Grant.of(event, event.fence()), timer.start()));
        }
    }

    void end(LockEvent event) {
        if (event.fence() == null) {
            return;
        }
        Grant end = Grant.of(event, event.fence());
        Map.Entry<Grant, LongTaskTimer.Sample> begun = running.floorEntry(end);
        if (begun != null && begun.getKey().isOfSameKey(end)) {
            stop(running.remove(begun.getKey()));
        }
    }

    private static void stop(LongTaskTimer.@Nullable Sample sample) {
        if (sample != null) {
            sample.stop();
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
