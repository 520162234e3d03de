package io.syncguard.memory;

import io.syncguard.RawLockInfo;

/**
 * Learns of every grant of an {@link InMemoryStore} and of its end, in their order. Called within the step that makes
 * the change: it must not block.
 */
public interface GrantListener {

    /** Ignores all events. */
    GrantListener NONE = new GrantListener() {};

    /** A lease began. */
    default void granted(RawLockInfo lease) {}

    /**
     * The lease was released, or deleted after it had ended otherwise. A lapsed lease ends before the next grant of any
     * key at the latest, and may be reported again.
     */
    default void ended(RawLockInfo lease) {}
}
