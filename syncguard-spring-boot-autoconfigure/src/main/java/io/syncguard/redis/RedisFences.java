package io.syncguard.redis;

import io.syncguard.Fence;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The last fences that this process was granted, of the keys that it used last. A server that grants no larger one has lost its
 * counter: nobody else may notice, and a store that compares fences will be misled.
 */
final class RedisFences {

    private static final Log log = LogFactory.getLog(RedisFences.class);

    /** About a megabyte. */
    private static final int KEYS = 10_000;

    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock; who was used last is last. */
    private final Map<String, Long> fences = new LinkedHashMap<>(16, 0.75f, true);

    /** The largest known one, zero if there is none. To be asked before a claim is sent: answers may overtake each other. */
    long known(String key) {
        lock.lock();
        try {
            return fences.getOrDefault(key, 0L);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Remembers what was granted.
     *
     * @param known before the claim was sent
     */
    void granted(String key, Fence fence, long known) {
        boolean beganAgain = fence.value() <= known;
        lock.lock();
        try {
            fences.merge(key, fence.value(), beganAgain ? (old, granted) -> granted : Math::max);
            if (fences.size() > KEYS) {
                fences.remove(fences.keySet().iterator().next());
            }
        } finally {
            lock.unlock();
        }
        if (beganAgain) {
            log.error("The fence counter of lock '" + key + "' has begun again: granted " + fence.value() + " after "
                    + known + ". Redis has lost data, perhaps also of other keys. Set the counters above the largest"
                    + " fences that were ever seen, or have the stores that compare fences forget them");
        }
    }
}
