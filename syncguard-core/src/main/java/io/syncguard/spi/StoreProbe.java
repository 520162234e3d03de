package io.syncguard.spi;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds out whether a store grants locks at this moment: acquires reserved keys and releases them, on all servers of
 * the store. It needs the rights, the memory and the disk that a lock of the application needs: a replica, or a server
 * without memory, would still answer a read. Nobody waits for these keys. Their counters stay, one for each server.
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
            if (areGranted(store, tries == 1 ? KEY : KEY + ":" + tries)) {
                return;
            }
        }
    }

    private static boolean areGranted(LockBackend store, String key) {
        Collection<AcquireRequest> requests = oneForEachServer(store, key);
        List<KeyedLockId> granted = new ArrayList<>();
        for (AcquireRequest request : requests) {
            if (Answers.awaitOnly(() -> store.acquire(List.of(request), GrantExtent.ONE))
                    instanceof AcquireResult.Granted) {
                granted.add(request.keyedLockId());
            }
        }
        granted.forEach(id -> Answers.await(() -> store.release(List.of(ReleaseRequest.handingOver(id)))));
        return granted.size() == requests.size();
    }

    /** The same keys each time, because their counters stay. */
    private static Collection<AcquireRequest> oneForEachServer(LockBackend store, String key) {
        Map<Integer, AcquireRequest> requests = new LinkedHashMap<>();
        for (int i = 0; requests.size() < store.info().servers(); i++) {
            AcquireRequest request = request(i == 0 ? key : key + ":" + i, store);
            requests.putIfAbsent(store.serverOf(request.lockId()), request);
        }
        return requests.values();
    }

    private static AcquireRequest request(String key, LockBackend store) {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        String lockId =
                store.lockIdFor(key, Base64.getUrlEncoder().withoutPadding().encodeToString(random));
        return new AcquireRequest(key, lockId, new AcquireOptions(LockMode.EXCLUSIVE, 0, TTL, "health", false));
    }
}
