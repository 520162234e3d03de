package io.syncguard.core;

import io.syncguard.LockMode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a client puts before the server to be granted a key.
 *
 * @param key the normalised key
 * @param mode how the grant is to stand beside others
 * @param lockId the secret that the grant will carry, made for this acquisition alone
 * @param ttl how long the grant lives without an extension
 * @param owner a label for people
 * @param handOver whether a release may grant the key directly while the caller waits
 * @param queued whether the caller was given a place in the queue before: it may have become a grant by now
 * @param waiter the number by which {@link WakeUps} know the caller from this claim on, who takes or keeps a place in the queue if the key is
 *     refused; {@code null} for a caller who does not wait, or no longer
 */
public record Claim(
        String key,
        LockMode mode,
        String lockId,
        Duration ttl,
        String owner,
        boolean handOver,
        boolean queued,
        @Nullable Long waiter) {

    /** The same by a caller who waits if the key is refused. */
    public Claim waitingAs(long waiter) {
        return new Claim(key, mode, lockId, ttl, owner, handOver, queued, waiter);
    }

    /** The same by a caller who was given a place before. */
    public Claim fromQueue() {
        return new Claim(key, mode, lockId, ttl, owner, handOver, true, waiter);
    }

    /** Without the lock id. */
    @Override
    public String toString() {
        return "claim to '" + key + "', " + mode + ", ttl " + ttl + ", owner " + owner;
    }
}
