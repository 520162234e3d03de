package io.syncguard.actuate;

import io.syncguard.LockStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Locks of a manager.
 *
 * @param next what to continue after; {@code null} if there are no more
 * @param complete whether the list contains all that it should
 */
record ListedLocks(List<LockStatus> locks, @Nullable String next, boolean complete) {

    /** The answer while there is none. */
    static final ListedLocks NONE_YET = new ListedLocks(List.of(), null, false);

    ListedLocks {
        locks = List.copyOf(locks);
    }

    ListedLocks incomplete() {
        return new ListedLocks(locks, next, false);
    }
}
