package io.syncguard.spi;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

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
        List<KeyedLockId> granted = new ArrayList<>();
        for (String key : keys) {
            AcquireRequest request = request(key, store);
            if (store.acquire(request) instanceof AcquireResult.Granted) {
                granted.add(request.keyedLockId());
            }
        }
        if (granted.size() == 1) {
            store.release(granted.get(0));
        } else if (!granted.isEmpty()) {
            store.releaseTogether(granted);
        }
        return granted.size() == keys.size();
    }

    private static AcquireRequest request(String key, LockBackend store) {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        String lockId =
                store.lockIdFor(key, Base64.getUrlEncoder().withoutPadding().encodeToString(random));
        return new AcquireRequest(key, LockMode.EXCLUSIVE, 0, lockId, TTL, "health", false, false, null);
    }
}
