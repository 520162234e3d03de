package io.syncguard.core;

import io.syncguard.Fence;
import java.time.Duration;
import java.time.Instant;

/**
 * The answer to an attempt to acquire.
 */
public sealed interface Attempt {

    /**
     * The key is the claimant's.
     *
     * @param fence the number of the grant
     * @param acquiredAt when, on the server's clock
     * @param expiresAt when the lease ends, on the server's clock
     */
    record Grant(Fence fence, Instant acquiredAt, Instant expiresAt) implements Attempt {}

    /**
     * Others hold it or wait for it, and the claimant has no place in the queue: one that it had is given up.
     *
     * @param timeLeft how long until the key may become free if nobody releases or extends it
     */
    record Refusal(Duration timeLeft) implements Attempt {}

    /**
     * Others hold it or wait for it, and the claimant has a place in the queue.
     *
     * @param nextLook how long until it is worth to look again if nobody wakes the claimant
     */
    record Queued(Duration nextLook) implements Attempt {}
}
