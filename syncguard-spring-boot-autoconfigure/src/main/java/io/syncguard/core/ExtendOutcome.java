package io.syncguard.core;

import io.syncguard.Fence;
import java.time.Instant;

/**
 * The answer to an {@link Extension}, with a new fence or without.
 */
public sealed interface ExtendOutcome {

    /**
     * The lease has a new end.
     *
     * @param expiresAt the new end, on the server's clock
     */
    record Extended(Instant expiresAt) implements ExtendOutcome {}

    /**
     * The lease has a new end, and a new fence: the answer to {@link LockBackend#rotate}, in place of {@link Extended}.
     *
     * @param expiresAt the new end, on the server's clock
     * @param fence the next fence of the key, which is the lease's from now on
     */
    record Rotated(Instant expiresAt, Fence fence) implements ExtendOutcome {}

    /** A transaction of somebody else has the row locked. The lease is as it was; ask again at once. */
    record Busy() implements ExtendOutcome {}

    /** The lease with this lock id had lapsed before, and was not revived. */
    record Expired() implements ExtendOutcome {}

    /** There is no lease with this lock id: released, swept, or deleted when the key was granted to somebody else. */
    record NotFound() implements ExtendOutcome {}
}
