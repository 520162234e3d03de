package io.syncguard.actuate;

import io.syncguard.LockInfo;
import io.syncguard.LockStatus;
import io.syncguard.core.LocalLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the callers of this process that have the leases and queue entries of a lock in the store. Immutable. */
final class OwnCallers {

    static final OwnCallers NONE = new OwnCallers(List.of());

    /** Maximum difference between the waiting times that a caller, who was read a second ago, and the store measure. */
    private static final Duration SAME_ARRIVAL = Duration.ofSeconds(2);

    private final Map<String, List<LocalLock>> byKey;

    /** @param locks the locks of one manager; waiting ones in the order of their arrival */
    OwnCallers(List<LocalLock> locks) {
        this.byKey = locks.stream()
                .collect(Collectors.groupingBy(lock -> lock.request().key()));
    }

    /** Returns the holder of this lease; {@code null} if it is another process. */
    @Nullable
    LocalLock holder(String key, LockInfo lease) {
        return byKey.getOrDefault(key, List.of()).stream()
                .filter(each -> lease.fence().equals(each.fence()))
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the waiters of the queue entries, in their order; {@code null} for a waiter of another process. An entry
     * does not name its caller, so the waiting times decide.
     */
    List<@Nullable LocalLock> waiters(LockStatus lock) {
        List<LocalLock> waiting = new ArrayList<>(byKey.getOrDefault(lock.key(), List.of()));
        waiting.removeIf(LocalLock::isHeld);
        List<@Nullable LocalLock> found = new ArrayList<>();
        for (LockStatus.Waiter entry : lock.queue()) {
            LocalLock caller = waiting.stream()
                    .filter(each -> isOf(each, entry, lock))
                    .findFirst()
                    .orElse(null);
            waiting.remove(caller);
            found.add(caller);
        }
        return found;
    }

    /** The numbers of permits that callers of this key ask for; 0 for one without a limit. */
    Stream<Integer> permits(String key) {
        return byKey.getOrDefault(key, List.of()).stream()
                .map(each -> each.request().permits());
    }

    private static boolean isOf(LocalLock caller, LockStatus.Waiter entry, LockStatus lock) {
        Duration difference = Duration.between(entry.since(), lock.at())
                .minus(caller.elapsed())
                .abs();
        return caller.owner().equals(entry.owner())
                && caller.request().mode() == entry.mode()
                && caller.request().permits() == entry.permits()
                && difference.compareTo(SAME_ARRIVAL) < 0;
    }
}
