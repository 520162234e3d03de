package io.syncguard.verification;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * The latest lock ids that a process saw, its own and others', with their keys. Threads may share it.
 */
final class KnownLockIds {

    private static final int SIZE = 50_000;

    /** From here the stale ids are taken: most of them are over by then. */
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

    synchronized void add(String key, String lockId) {
        latest.set(lockId);
        keys.put(lockId, key);
        recent[next++ % RECENT] = lockId;
    }

    /** What the thread has asked for since it last began anew; {@code null} if nothing was sent. */
    String latestOfThread() {
        return latest.get();
    }

    /** The thread is about to ask for something else. */
    void beginAnew() {
        latest.remove();
    }

    synchronized String keyOf(String lockId) {
        return keys.getOrDefault(lockId, "");
    }

    /** One of the latest, most of them refused or over; {@code null} while there is none. */
    synchronized String any(Random random) {
        return next == 0 ? null : recent[random.nextInt(Math.min(next, RECENT))];
    }
}
