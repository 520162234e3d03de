package io.syncguard.core;

import java.time.Instant;

/**
 * The answer to an {@link Extension}.
 */
public sealed interface ExtendOutcome {

    /**
     * The lease has a new end.
     *
     * @param expiresAt the new end, on the server's clock
     */
    record Extended(Instant expiresAt) implements ExtendOutcome {}

    /** A transaction of somebody else has the row locked. The lease is as it was; ask again at once. */
    record Busy() implements ExtendOutcome {}

    /** There is no live lease with this lock id: released, lapsed, or granted to somebody else. */
    record NotHeld() implements ExtendOutcome {}
}
