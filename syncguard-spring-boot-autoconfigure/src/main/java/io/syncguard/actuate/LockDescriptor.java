package io.syncguard.actuate;

import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.spi.BlockingSession;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A lock in an answer of the endpoint. All times are of the server's clock.
 *
 * @param key the key, or its hash
 * @param holders in the order of their fences
 * @param waiters how many wait
 * @param queue the first of them
 * @param sessions of the store's server that lock rows of the key: transactions that commit under a lease, and what
 *     keeps operations waiting. Only if one key was asked for
 */
public record LockDescriptor(
        String key, List<Holder> holders, int waiters, List<Waiter> queue, List<BlockingSession> sessions)
        implements OperationResponseBody {

    /**
     * A live lease.
     *
     * @param owner label of the process
     * @param timeLeft until it ends without an extension
     */
    public record Holder(
            LockMode mode, String owner, Instant since, Instant expiresAt, Duration timeLeft, long fence) {}

    /**
     * A queue entry.
     *
     * @param position from 1
     * @param waiting for how long
     * @param blockedBy the nearest waiter in front that it waits for; the holders, if there is none
     */
    public record Waiter(
            int position, LockMode mode, String owner, Instant since, Duration waiting, List<String> blockedBy) {}

    static LockDescriptor of(LockStatus lock, KeyView view) {
        return of(lock, List.of(), view);
    }

    static LockDescriptor of(LockStatus lock, List<BlockingSession> sessions, KeyView view) {
        return new LockDescriptor(
                view.show(lock.key()),
                lock.holders().stream().map(holder -> holder(lock, holder)).toList(),
                lock.waiters(),
                queue(lock),
                sessions.stream()
                        .map(session -> view.isPlain() ? session : session.withoutStatement())
                        .toList());
    }

    private static Holder holder(LockStatus lock, LockStatus.Holder holder) {
        return new Holder(
                holder.mode(),
                holder.owner(),
                holder.since(),
                holder.expiresAt(),
                Duration.between(lock.at(), holder.expiresAt()),
                holder.fence().value());
    }

    private static List<Waiter> queue(LockStatus lock) {
        List<Waiter> queue = new ArrayList<>();
        for (LockStatus.Waiter waiter : lock.queue()) {
            queue.add(new Waiter(
                    queue.size() + 1,
                    waiter.mode(),
                    waiter.owner(),
                    waiter.since(),
                    Duration.between(waiter.since(), lock.at()),
                    blockers(lock, waiter, queue)));
        }
        return queue;
    }

    /**
     * The nearest waiter in front that it has to wait for; the holders, if there is none. Readers do not block readers.
     */
    private static List<String> blockers(LockStatus lock, LockStatus.Waiter waiter, List<Waiter> inFront) {
        for (int i = inFront.size() - 1; i >= 0; i--) {
            Waiter each = inFront.get(i);
            if (conflict(waiter.mode(), each.mode())) {
                return List.of("position " + each.position() + ", " + each.owner());
            }
        }
        return lock.holders().stream()
                .filter(holder -> conflict(waiter.mode(), holder.mode()))
                .map(holder -> "held by " + holder.owner())
                .toList();
    }

    private static boolean conflict(LockMode one, LockMode other) {
        return one == LockMode.EXCLUSIVE || other == LockMode.EXCLUSIVE;
    }
}
