package io.syncguard.actuate;

import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.core.LocalLock;
import io.syncguard.spi.BlockingSession;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A lock in an answer of the endpoint. All times are of the server's clock.
 *
 * @param key the key, or its hash
 * @param name the name under which this process counts the lock; {@code null} if it does not know it
 * @param permitsInUse how many shared leases are live
 * @param permits of how many: the numbers of the waiters and of this process, in ascending order. A lease has none, so
 *     it is empty if only other processes know them
 * @param holders in the order of their fences
 * @param waiters how many wait
 * @param queue the first of them
 * @param sessions of the store's server that lock rows of the key: transactions that commit under a lease, and what
 *     keeps operations waiting. Only if one key was asked for
 */
public record LockDescriptor(
        String key,
        @Nullable String name,
        int permitsInUse,
        List<Integer> permits,
        List<Holder> holders,
        int waiters,
        List<Waiter> queue,
        List<BlockingSession> sessions)
        implements OperationResponseBody {

    /**
     * A live lease.
     *
     * @param owner label of the process
     * @param thread the one that acquired it, as in a thread dump: its name and number, or the number alone if keys are
     *     hidden; {@code null} in another process
     * @param timeLeft until it ends without an extension
     */
    public record Holder(
            LockMode mode,
            String owner,
            @Nullable String thread,
            Instant since,
            Instant expiresAt,
            Duration timeLeft,
            long fence) {}

    /**
     * A queue entry.
     *
     * @param position from 1
     * @param permits one of how many it waits for; {@code null} for no limit
     * @param thread as for a holder
     * @param traceId of the acquisition; {@code null} in another process, and without traces
     * @param waiting for how long
     * @param blockedBy the nearest waiter in front that it waits for; the holders that are in its way, if there is
     *     none. One that waits for a permit waits for all holders, if they are as many as its permits
     */
    public record Waiter(
            int position,
            LockMode mode,
            @Nullable Integer permits,
            String owner,
            @Nullable String thread,
            @Nullable String traceId,
            Instant since,
            Duration waiting,
            List<String> blockedBy) {}

    static LockDescriptor of(LockStatus lock, KeyView view) {
        return of(lock, List.of(), LocalView.unaware(view));
    }

    static LockDescriptor of(LockStatus lock, List<BlockingSession> sessions, LocalView local) {
        KeyView view = local.keys();
        return new LockDescriptor(
                view.show(lock.key()),
                local.names().of(lock.key()),
                (int) shared(lock),
                permits(lock, local),
                lock.holders().stream()
                        .map(holder -> holder(lock, holder, local))
                        .toList(),
                lock.waiters(),
                queue(lock, local),
                sessions.stream()
                        .map(session -> view.isPlain() ? session : session.withoutStatement())
                        .toList());
    }

    private static Holder holder(LockStatus lock, LockInfo holder, LocalView local) {
        return new Holder(
                holder.mode(),
                holder.owner(),
                local.thread(local.callers().holder(lock.key(), holder)),
                holder.acquiredAt(),
                holder.expiresAt(),
                Duration.between(lock.at(), holder.expiresAt()),
                holder.fence().value());
    }

    private static long shared(LockStatus lock) {
        return lock.holders().stream()
                .filter(holder -> holder.mode() == LockMode.SHARED)
                .count();
    }

    private static List<Integer> permits(LockStatus lock, LocalView local) {
        return Stream.of(
                        lock.queue().stream().map(LockStatus.Waiter::permits),
                        local.callers().permits(lock.key()),
                        local.names().permitsOf(lock.key()).stream())
                .flatMap(each -> each)
                .filter(permits -> permits > 0)
                .distinct()
                .sorted()
                .toList();
    }

    private static List<Waiter> queue(LockStatus lock, LocalView local) {
        List<@Nullable LocalLock> callers = local.callers().waiters(lock);
        List<Waiter> queue = new ArrayList<>();
        for (LockStatus.Waiter waiter : lock.queue()) {
            LocalLock caller = callers.get(queue.size());
            queue.add(new Waiter(
                    queue.size() + 1,
                    waiter.mode(),
                    waiter.permits() > 0 ? waiter.permits() : null,
                    waiter.owner(),
                    local.thread(caller),
                    caller == null ? null : caller.traceId(),
                    waiter.since(),
                    Duration.between(waiter.since(), lock.at()),
                    blockers(lock, waiter, queue)));
        }
        return queue;
    }

    /**
     * The nearest waiter in front that it has to wait for; the holders, if there is none. Readers do not block readers,
     * unless one of them asks for a permit: that one is passed by nobody, and passes nobody.
     */
    private static List<String> blockers(LockStatus lock, LockStatus.Waiter waiter, List<Waiter> inFront) {
        for (int i = inFront.size() - 1; i >= 0; i--) {
            Waiter each = inFront.get(i);
            if (waiter.permits() > 0 || each.permits() != null || conflict(waiter.mode(), each.mode())) {
                return List.of("position " + each.position() + ", " + each.owner());
            }
        }
        boolean isFull = waiter.permits() > 0 && shared(lock) >= waiter.permits();
        return lock.holders().stream()
                .filter(holder -> isFull || conflict(waiter.mode(), holder.mode()))
                .map(holder -> "held by " + holder.owner())
                .toList();
    }

    private static boolean conflict(LockMode one, LockMode other) {
        return one == LockMode.EXCLUSIVE || other == LockMode.EXCLUSIVE;
    }
}
