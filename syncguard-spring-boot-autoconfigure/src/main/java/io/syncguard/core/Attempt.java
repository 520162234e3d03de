package io.syncguard.core;

import io.syncguard.Fence;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

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
     * @param holder who holds it; {@code null} where only others who wait are in the way
     */
    record Refusal(Duration timeLeft, @Nullable Holder holder) implements Attempt {}

    /**
     * Others hold it or wait for it, and the claimant has a place in the queue.
     *
     * @param nextLook how long until it is worth to look again if nobody wakes the claimant
     * @param holder who holds it; {@code null} where only others who wait are in the way
     */
    record Queued(Duration nextLook, @Nullable Holder holder) implements Attempt {}

    /**
     * Who has a key that was not granted, as people want to know it. Of several readers, the one whose lease ends last.
     *
     * @param owner its label, which may be empty
     * @param since when it was granted the key, on the server's clock
     * @param alone whether nobody else holds the key with it
     */
    record Holder(String owner, Instant since, boolean alone) {}
}
