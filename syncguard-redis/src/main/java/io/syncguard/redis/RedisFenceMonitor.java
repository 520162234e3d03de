package io.syncguard.redis;

import io.syncguard.Fence;
import io.syncguard.OneLine;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Reports fence counters that have begun again. It remembers the largest fence that this process received for each key
 * that it used lately. If a later grant has no larger fence, the server has lost the counter, and stores that compare
 * fences refuse the holder. Thread-safe.
 */
final class RedisFenceMonitor {

    private static final Log log = LogFactory.getLog(RedisFenceMonitor.class);

    /** About a megabyte. */
    private static final int KEYS = 10_000;

    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock, in the order of last use. */
    private final Map<String, Long> fences = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * Returns the largest fence of the key that this process knows, or zero. Call it before sending the acquire
     * request, because answers may arrive in another order.
     */
    long lastFence(String key) {
        lock.lock();
        try {
            return fences.getOrDefault(key, 0L);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Remembers a grant, and reports a fence that is too small.
     *
     * @param lastFence the result of {@link #lastFence} before the request was sent
     */
    void granted(String key, Fence fence, long lastFence) {
        boolean beganAgain = fence.value() <= lastFence;
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
            log.error("The fence counter of lock '" + OneLine.of(key) + "' has begun again: granted " + fence.value()
                    + " after "
                    + lastFence
                    + ". Redis has lost data, perhaps also of other keys. Set the counters above the largest"
                    + " fences ever seen, or reset the stores that compare fences");
        }
    }
}
