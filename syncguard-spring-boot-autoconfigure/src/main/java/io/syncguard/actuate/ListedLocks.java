package io.syncguard.actuate;

import io.syncguard.LockException;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.spi.BlockingSession;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Locks of a manager.
 *
 * @param summary of all locks, if it was asked for: its queues are the locks
 * @param sessions of the store's server that lock their rows, if one key was asked for
 * @param next the end of this page, after which the next one begins; {@code null} if there are no more locks
 * @param readAt on the clock, when this was read; {@code null} if nothing was
 * @param problem why locks are missing or this is old; {@code null} if neither is so
 * @param failure of the store, if that is the reason
 */
record ListedLocks(
        List<LockStatus> locks,
        @Nullable LockSummary summary,
        List<BlockingSession> sessions,
        @Nullable String next,
        @Nullable Long readAt,
        @Nullable String problem,
        @Nullable LockException failure) {

    ListedLocks {
        locks = List.copyOf(locks);
        sessions = List.copyOf(sessions);
    }

    ListedLocks(List<LockStatus> locks, @Nullable String next, @Nullable String problem) {
        this(locks, null, List.of(), next, null, problem, null);
    }

    ListedLocks(LockSummary summary) {
        this(summary.queues(), summary, List.of(), null, null, null, null);
    }

    ListedLocks(List<LockStatus> locks, List<BlockingSession> sessions) {
        this(locks, null, sessions, null, null, null, null);
    }

    boolean isComplete() {
        return problem == null;
    }

    /** A part of these locks. */
    ListedLocks page(List<LockStatus> some, @Nullable String end) {
        return new ListedLocks(some, summary, sessions, end, readAt, problem, failure);
    }

    ListedLocks readAt(long nanoTime) {
        return new ListedLocks(locks, summary, sessions, next, nanoTime, problem, null);
    }

    /** The same, because a later answer has not come. */
    ListedLocks old(String reason) {
        return new ListedLocks(locks, summary, sessions, next, readAt, reason, failure);
    }

    /** The same, because a later answer is this failure. */
    ListedLocks old(LockException error) {
        return new ListedLocks(locks, summary, sessions, next, readAt, String.valueOf(error.getMessage()), error);
    }
}
