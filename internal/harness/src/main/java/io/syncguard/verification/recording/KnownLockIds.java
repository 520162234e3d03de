package io.syncguard.verification.recording;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * The latest lock ids that a process saw, with their keys: its own and those of other processes. Thread-safe.
 */
public final class KnownLockIds {

    private static final int SIZE = 10_000;

    /** Ids older than this number of ids are stale: most of their leases have ended. */
    private static final int RECENT = 256;

    private final Map<String, String> keys = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > SIZE;
        }
    };

    private final String[] recent = new String[RECENT];
    private final ThreadLocal<String> latest = new ThreadLocal<>();
    private int next;

    public synchronized void add(String key, String lockId) {
        latest.set(lockId);
        keys.put(lockId, key);
        recent[next++ % RECENT] = lockId;
    }

    /** The lock id of the thread's latest acquisition; {@code null} if no request was sent for it. */
    public String latestOfThread() {
        return latest.get();
    }

    /** Notes that the thread begins another acquisition. */
    public void beginNext() {
        latest.remove();
    }

    public synchronized String keyOf(String lockId) {
        return keys.getOrDefault(lockId, "");
    }

    /** A random one of the latest ids, most of them refused or over; {@code null} if there is none. */
    public synchronized String any(Random random) {
        return next == 0 ? null : recent[random.nextInt(Math.min(next, RECENT))];
    }
}
