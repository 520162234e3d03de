package io.syncguard.spi;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a store grants locks at this moment: acquires reserved keys and releases them, on all servers of
 * the store. It needs the rights, the memory and the disk that a lock of the application needs: a
 * replica, or a server without memory, would still answer a read. Nobody waits for these
 * keys. Their counters stay, one for each server.
 */
public final class StoreProbe {

    /** No application locks it. */
    public static final String KEY = "syncguard:health";

    /** Long enough for the whole network timeout, and short for a lease whose release failed. */
    private static final Duration TTL = Duration.ofSeconds(10);

    /** Another process may hold the key at this moment. Its grant proves nothing for this one. */
    private static final int TRIES = 3;

    private static final SecureRandom RANDOM = new SecureRandom();

    private StoreProbe() {}

    /** @throws LockBackendException what the next lock of the application would fail with */
    public static void run(LockBackend store) {
        for (int tries = 1; tries <= TRIES; tries++) {
            if (areGranted(store, store.probeKeys(tries == 1 ? KEY : KEY + ":" + tries))) {
                return;
            }
        }
    }

    private static boolean areGranted(LockBackend store, List<String> keys) {
        boolean all = true;
        int limit = store.keysTogether();
        for (int from = 0; from < keys.size(); from += limit) {
            List<AcquireRequest> requests = keys.subList(from, Math.min(keys.size(), from + limit)).stream()
                    .map(key -> request(key, store))
                    .toList();
            List<AcquireResult> results = acquire(store, requests);
            List<KeyedLockId> granted = new ArrayList<>();
            for (int i = 0; i < requests.size(); i++) {
                if (results.get(i) instanceof AcquireResult.Granted) {
                    granted.add(requests.get(i).keyedLockId());
                }
            }
            release(store, granted);
            all &= granted.size() == requests.size();
        }
        return all;
    }

    private static List<AcquireResult> acquire(LockBackend store, List<AcquireRequest> requests) {
        List<@Nullable AcquireResult> together =
                requests.size() > 1 ? store.acquireTogether(requests) : List.of(store.acquire(requests.get(0)));
        List<AcquireResult> results = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            AcquireResult result = together.get(i);
            results.add(result == null ? store.acquire(requests.get(i)) : result);
        }
        return results;
    }

    private static void release(LockBackend store, List<KeyedLockId> ids) {
        if (ids.size() == 1) {
            store.release(ids.get(0));
        } else if (ids.size() > 1) {
            store.releaseTogether(ids);
        }
    }

    private static AcquireRequest request(String key, LockBackend store) {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        String lockId =
                store.lockIdFor(key, Base64.getUrlEncoder().withoutPadding().encodeToString(random));
        return new AcquireRequest(key, LockMode.EXCLUSIVE, 0, lockId, TTL, "health", false, false, null);
    }
}
