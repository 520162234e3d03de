package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/**
 * Redisson's {@code RPermitExpirableSemaphore} with its defaults. Redisson does not extend a permit: one with a lease
 * time ends after that time, one without a lease time only by its release.
 */
final class RedissonPermits implements PermitContender {

    private final RedissonClient client;
    private final boolean leased;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    /** @param leased whether the permits have a lease time */
    RedissonPermits(String url, boolean leased) {
        this.client = RedissonLocks.client(url);
        this.leased = leased;
    }

    @Override
    public boolean attempt(String key, Runnable body) throws InterruptedException {
        RPermitExpirableSemaphore semaphore = semaphore(key);
        String permit =
                leased ? semaphore.tryAcquire(0, TTL.toMillis(), TimeUnit.MILLISECONDS) : semaphore.tryAcquire();
        if (permit == null) {
            return false;
        }
        runAndRelease(semaphore, permit, body);
        return true;
    }

    @Override
    public void await(String key, Duration ttl, Runnable body) throws InterruptedException {
        RPermitExpirableSemaphore semaphore = semaphore(key);
        String permit = leased ? semaphore.acquire(ttl.toMillis(), TimeUnit.MILLISECONDS) : semaphore.acquire();
        runAndRelease(semaphore, permit, body);
    }

    @Override
    public void close() {
        client.shutdown(0, 1, TimeUnit.SECONDS);
    }

    private RPermitExpirableSemaphore semaphore(String key) {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(key);
        if (known.add(key)) {
            semaphore.trySetPermits(PERMITS);
        }
        return semaphore;
    }

    /** The permit may have ended by its lease time. */
    private static void runAndRelease(RPermitExpirableSemaphore semaphore, String permit, Runnable body) {
        try {
            body.run();
        } finally {
            semaphore.tryRelease(permit);
        }
    }
}
