package io.syncguard.rules;

import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.AcquireResult.Undecided;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a key: each method is one operation of a store. It takes the state of the key, a request and the time,
 * and changes nothing: the {@link Decision} says what to answer, which rows to write, and which waiters to wake.
 * Immutable and thread-safe.
 *
 * <pre>{@code
 * KeyState key = ...;                                             // the rows, locked
 * Decision<AcquireResult> decision = rules.acquire(key, request, channel, now);
 * write(decision.changes());
 * commit();
 * decision.wakeUps().forEach(this::send);
 * return decision.answer();
 * }</pre>
 *
 * <p>Each time is in milliseconds of the store's clock, read after the rows were locked.
 */
public final class KeyRules {

    private final Duration waiterTtl;
    private final FenceSource fences;

    /** @param waiterTtl how long a queue entry lives unless it is renewed */
    public KeyRules(Duration waiterTtl, FenceSource fences) {
        this.waiterTtl = waiterTtl;
        this.fences = fences;
    }

    /** How long a queue entry lives unless it is renewed. */
    public Duration waiterTtl() {
        return waiterTtl;
    }

    /**
     * Grants, queues or refuses.
     *
     * @param channel where the caller's process receives messages; {@code null} if it receives none
     * @throws LockBackendException with {@code INTERNAL} when no fences are left; nothing changes then
     */
    public Decision<AcquireResult> acquire(KeyState key, AcquireRequest request, @Nullable String channel, long now) {
        KeyStep step = step(key, now);
        return step.decide(new AcquireRule(step, request).acquire(channel));
    }

    /**
     * Decides requests of one caller that are granted together. No key behind a refused one is granted.
     *
     * @param keys the states of the keys, in the order of the requests
     * @param requests for different keys, without queue entries and waiters
     * @return one for each request
     * @throws LockBackendException with {@code INTERNAL} when a key has no fences left; nothing changes then
     */
    public List<Decision<AcquireResult>> acquireTogether(
            List<KeyState> keys, List<AcquireRequest> requests, GrantExtent extent, long now) {
        List<Decision<AcquireResult>> decisions = new ArrayList<>();
        boolean refused = false;
        for (int i = 0; i < requests.size(); i++) {
            if (refused) {
                decisions.add(unchanged(keys.get(i), Undecided.UNDECIDED));
                continue;
            }
            Decision<AcquireResult> next = acquire(keys.get(i), requests.get(i), null, now);
            refused = next.answer() instanceof AcquireResult.Refused;
            decisions.add(refused ? unchanged(keys.get(i), next.answer()) : next);
        }
        if (extent == GrantExtent.NOTHING || extent == GrantExtent.ALL && refused) {
            decisions.replaceAll(each -> each.answer() instanceof AcquireResult.Granted
                    ? unchanged(each.before(), Undecided.UNDECIDED)
                    : each);
        }
        return decisions;
    }

    private static Decision<AcquireResult> unchanged(KeyState key, AcquireResult answer) {
        return new Decision<>(answer, key, key, List.of());
    }

    /** Ends the lease with this lock id, or deletes its queue entry, and wakes those who can be granted the key. */
    public Decision<ReleaseResult> release(KeyState key, String lockId, long now) {
        KeyStep step = step(key, now);
        return step.decide(new ReleaseRule(step).release(lockId));
    }

    /**
     * Ends a lease like {@link #release}, and grants the key to the first waiters that accept it.
     *
     * @param inAnswer the channel of the releasing process: hand-overs to its waiters are in the answer, in place of
     *     messages; {@code null} if all are messages
     */
    public Decision<ReleaseResult> handOver(KeyState key, String lockId, @Nullable String inAnswer, long now) {
        KeyStep step = step(key, now);
        return step.decide(new ReleaseRule(step).handOver(lockId, inAnswer));
    }

    /** Takes the lease from its holder, and keeps the key from others until this time after the grant. */
    public Decision<ReleaseResult> releaseAfter(KeyState key, String lockId, Duration held, long now) {
        KeyStep step = step(key, now);
        return step.decide(new ReleaseRule(step).releaseAfter(lockId, held));
    }

    /**
     * Ends leases of the key, whoever has them, and draws a fence.
     *
     * @param asked which leases to end
     */
    public Decision<ForcedRelease> forceRelease(KeyState key, Predicate<StoredLease> asked, long now) {
        KeyStep step = step(key, now);
        return step.decide(new ReleaseRule(step).forceRelease(asked));
    }

    /** Sets the lease to end one ttl from now. */
    public Decision<ExtendResult> extend(KeyState key, ExtendRequest request, long now) {
        KeyStep step = step(key, now);
        return step.decide(new ExtendRule(step).extend(request));
    }

    /**
     * Extends an exclusive lease, and gives it the next fence.
     *
     * @throws LockBackendException with {@code INTERNAL} when no fences are left; nothing changes then
     */
    public Decision<ExtendResult> rotate(KeyState key, ExtendRequest request, long now) {
        KeyStep step = step(key, now);
        return step.decide(new ExtendRule(step).rotate(request));
    }

    /**
     * Renews a queue entry for another {@link #waiterTtl}. The answer says how long until the next attempt is
     * worthwhile; zero if the waiter can be granted the key now, or has no entry. It depends on the entries in front:
     * renew all entries of a request before the answer to any of them.
     */
    public Decision<Duration> renewWaiter(KeyState key, String lockId, long now) {
        KeyStep step = step(key, now);
        QueueEntry entry = step.queue().find(lockId);
        if (entry == null) {
            return step.decide(Duration.ZERO);
        }
        QueueEntry renewed = step.queue().replace(entry, entry.until(step.in(waiterTtl)));
        return step.decide(step.obstacles(renewed, renewed.kind()).untilFirst(now));
    }

    /** Deletes lapsed leases and queue entries. Returns how many leases. */
    public Decision<Integer> sweep(KeyState key, long now) {
        KeyStep step = step(key, now);
        step.leases().removeLapsed(now);
        step.wakeGrantable();
        return step.decide(key.leases().size() - step.leases().all().size());
    }

    private KeyStep step(KeyState key, long now) {
        return new KeyStep(key, waiterTtl, fences, now);
    }
}
