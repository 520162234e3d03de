package io.syncguard.actuate;

import io.syncguard.LockStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Locks of a manager.
 *
 * @param next the end of this page, after which the next one begins; {@code null} if there are no more locks
 * @param complete whether the list contains all locks that it should
 */
record ListedLocks(List<LockStatus> locks, @Nullable String next, boolean complete) {

    /** The answer before the first list has ended. */
    static final ListedLocks NONE_YET = new ListedLocks(List.of(), null, false);

    ListedLocks {
        locks = List.copyOf(locks);
    }

    ListedLocks incomplete() {
        return new ListedLocks(locks, next, false);
    }
}
