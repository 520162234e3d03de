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
     * Somebody else has it.
     *
     * @param timeLeft how long until the key may become free if nobody releases or extends it
     */
    record Refusal(Duration timeLeft) implements Attempt {}
}
