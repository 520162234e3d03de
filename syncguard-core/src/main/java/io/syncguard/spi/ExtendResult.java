package io.syncguard.spi;

import io.syncguard.Fence;
import java.time.Instant;

/**
 * The answer to an {@link ExtendRequest}.
 */
public sealed interface ExtendResult {

    /**
     * The lease has a new end.
     *
     * @param expiresAt the new end, on the server's clock
     */
    record Extended(Instant expiresAt) implements ExtendResult {}

    /**
     * The lease has a new end, and a new fence: the answer to {@link ExtendRequest.Kind#NEXT_FENCE}, in place of
     * {@link Extended}.
     *
     * @param expiresAt the new end, on the server's clock
     * @param fence the next fence of the key, which belongs to the lease from now on
     */
    record Rotated(Instant expiresAt, Fence fence) implements ExtendResult {}

    /** An application transaction locks the row. The lease is unchanged; ask again at once. */
    record Busy() implements ExtendResult {}

    /** The lease has lapsed, and was not revived. */
    record Expired() implements ExtendResult {}

    /** There is no lease with this lock id: released, swept, or deleted when the key was granted to somebody else. */
    record NotFound() implements ExtendResult {}
}
