package io.syncguard.rules;

import java.util.List;

/**
 * What a rule decided about one key. The store writes {@link #changes} in the transaction that read the state, and
 * sends the wake-ups after its commit.
 *
 * @param answer the answer to the request
 * @param before the state that the rule was given
 * @param after the state that the key has now
 * @param wakeUps the messages, in the order in which to send them
 */
public record Decision<T>(T answer, KeyState before, KeyState after, List<WakeUp> wakeUps) {

    public Decision {
        wakeUps = List.copyOf(wakeUps);
    }

    /** The rows to write. */
    public KeyChanges changes() {
        return KeyChanges.between(before, after);
    }
}
