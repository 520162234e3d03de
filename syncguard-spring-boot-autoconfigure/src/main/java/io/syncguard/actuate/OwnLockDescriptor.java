package io.syncguard.actuate;

import io.syncguard.LockMode;
import io.syncguard.core.LocalLock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A lock that this process holds or waits for, as the process itself knows it. It needs no store.
 *
 * @param key the key, or its hash
 * @param name the name under which it is counted
 * @param permits of how many it has one or waits for one; {@code null} for no limit
 * @param thread the one that waits, or that acquired the lock, as a thread dump shows it
 * @param fence of the lease; {@code null} while it waits
 * @param elapsed since the grant, or since the wait began
 * @param timeLeft until the lease ends unless it is extended; {@code null} while it waits
 */
public record OwnLockDescriptor(
        String key,
        String name,
        LockMode mode,
        @Nullable Integer permits,
        String thread,
        @Nullable Long fence,
        Duration elapsed,
        @Nullable Duration timeLeft) {

    /** How many held locks, and how many others, an answer has at most. */
    static final int MAX = 100;

    /** Returns the held locks that end first, then the callers that have waited for longest. */
    static List<LocalLock> first(List<LocalLock> locks) {
        Comparator<LocalLock> byEnd =
                Comparator.comparing(LocalLock::timeLeft, Comparator.nullsLast(Comparator.naturalOrder()));
        Comparator<LocalLock> byWait = Comparator.comparing(LocalLock::elapsed).reversed();
        return Stream.concat(first(locks, LocalLock::isHeld, byEnd), first(locks, lock -> !lock.isHeld(), byWait))
                .toList();
    }

    private static Stream<LocalLock> first(
            List<LocalLock> locks, Predicate<LocalLock> kind, Comparator<LocalLock> order) {
        return locks.stream().filter(kind).sorted(order).limit(MAX);
    }

    static OwnLockDescriptor of(LocalLock lock, LocalView local) {
        int permits = lock.request().permits();
        return new OwnLockDescriptor(
                local.keys().show(lock.request().key()),
                lock.request().name(),
                lock.request().mode(),
                permits > 0 ? permits : null,
                local.threadOf(lock),
                lock.fence() == null ? null : lock.fence().value(),
                lock.elapsed(),
                lock.timeLeft());
    }
}
