package io.syncguard.verification.history;

import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.rules.Decision;
import io.syncguard.rules.KeyChanges;
import io.syncguard.rules.KeyRules;
import io.syncguard.rules.KeyState;
import io.syncguard.rules.LeaseKind;
import io.syncguard.rules.QueueEntry;
import io.syncguard.rules.StoredLease;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistorySimulator.Bug;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The server of the model: one key, for which the rules of the library decide. A bug hides rows from them. Times are
 * milliseconds of the model's clock; those in leases are of the server's clock.
 */
final class SimulatedServer {

    static final long WAITER_TTL = 5000;

    private static final long AHEAD = 1_700_000_000_000L;

    private final KeyRules rules = new KeyRules(Duration.ofMillis(WAITER_TTL), FenceSource.COUNTER);
    private final Bug bug;
    private final SimulatedWakeUps wakeUps;
    private KeyState key = KeyState.unused("key");
    private long writes;

    SimulatedServer(Bug bug, SimulatedWakeUps wakeUps) {
        this.bug = bug;
        this.wakeUps = wakeUps;
    }

    /** REFUSED also if the caller's queue entry was deleted. */
    Outcome acquire(HistoryEvent asked, boolean waits, long now) {
        String lock = asked.lock();
        LeaseKind kind = kind(asked.lease());
        long ttl = asked.lease().ttl();
        AcquireOptions options =
                new AcquireOptions(kind.mode(), kind.permits(), Duration.ofMillis(ttl), "", ttl >= WAITER_TTL);
        AcquireRequest request = new AcquireRequest(
                key.key(), lock, options, true, waits ? asked.source().number() : null);
        boolean queued = waits(lock);
        AcquireResult answer = done(rules.acquire(visible(lock, kind), request, lock, AHEAD + now));
        if (bug == Bug.THE_LAST_QUEUES_FIRST && waits(lock) && !queued) {
            List<QueueEntry> queue = new ArrayList<>(key.queue());
            Collections.rotate(queue, 1);
            key = key.withQueue(queue);
        }
        return answer instanceof AcquireResult.Granted
                ? Outcome.OK
                : answer instanceof AcquireResult.Queued ? Outcome.QUEUED : Outcome.REFUSED;
    }

    private LeaseKind kind(HistoryEvent.Lease asked) {
        LockMode mode = asked.shared() && bug != Bug.READERS_STOP_READERS ? LockMode.SHARED : LockMode.EXCLUSIVE;
        int change = bug == Bug.ONE_PERMIT_TOO_MANY ? 1 : bug == Bug.LAST_PERMIT_IS_NOT_GIVEN ? -1 : 0;
        return new LeaseKind(mode, asked.permits() == 0 ? 0 : Math.max(1, asked.permits() + change));
    }

    /** The rows that a request sees. */
    private KeyState visible(String lock, LeaseKind kind) {
        return key.withLeases(key.leases().stream()
                        .filter(lease -> lease.lockId().equals(lock) || !hides(lease, kind))
                        .toList())
                .withQueue(key.queue().stream()
                        .filter(entry -> entry.lockId().equals(lock) || !hides(entry, lock, kind))
                        .toList());
    }

    private boolean hides(StoredLease lease, LeaseKind from) {
        return switch (bug) {
            case WRITERS_IGNORE_READERS -> isExclusive(from.mode()) && !isExclusive(lease.mode());
            case READERS_IGNORE_WRITERS -> !isExclusive(from.mode()) && isExclusive(lease.mode());
            case PERMITS_IGNORE_WRITERS -> from.permits() > 0 && isExclusive(lease.mode());
            default -> false;
        };
    }

    private boolean hides(QueueEntry entry, String lock, LeaseKind from) {
        return switch (bug) {
            case TRIES_PASS_WHO_WAITS -> !waits(lock);
            case READERS_PASS_WAITING_WRITERS -> !isExclusive(from.mode());
            case WRITERS_PASS_EACH_OTHER ->
                isExclusive(from.mode()) && isExclusive(entry.kind().mode());
            case LARGER_NUMBERS_PASS_SMALLER_ONES ->
                from.permits() > entry.kind().permits();
            case READERS_PASS_WHO_WAITS_FOR_PERMITS ->
                !isExclusive(from.mode()) && from.permits() == 0 && entry.kind().permits() > 0;
            default -> false;
        };
    }

    private static boolean isExclusive(LockMode mode) {
        return mode == LockMode.EXCLUSIVE;
    }

    boolean renew(String lock, long now) {
        done(rules.renewWaiter(key, lock, AHEAD + now));
        return waits(lock);
    }

    boolean extend(String lock, long ttl, long now) {
        ExtendRequest request = Requests.extension(lock, Duration.ofMillis(ttl));
        return done(rules.extend(key, request, AHEAD + now)) instanceof ExtendResult.Extended;
    }

    /** Releases a lease and hands over, or deletes a queue entry. */
    Outcome release(String lock, long now) {
        if (bug == Bug.RELEASE_OF_A_READER_FREES_ALL
                && live(now).contains(lock)
                && row(lock).mode() == LockMode.SHARED) {
            key = key.withLeases(List.of(row(lock)));
        }
        KeyState seen = key;
        if (bug == Bug.THE_LAST_IS_HANDED_THE_KEY) {
            List<QueueEntry> queue = new ArrayList<>(key.queue());
            Collections.reverse(queue);
            seen = key.withQueue(queue);
        }
        return switch (done(rules.handOver(seen, lock, null, AHEAD + now)).outcome()) {
            case RELEASED -> Outcome.OK;
            case LEFT -> Outcome.LEFT;
            default -> Outcome.NOT_HELD;
        };
    }

    /** Deletes the live leases, as an administrator does, and returns their lock ids. */
    List<String> end(long now) {
        List<String> ended = live(now);
        key = key.withLeases(List.of());
        done(rules.sweep(key, AHEAD + now));
        return ended;
    }

    /** The lock ids of live leases. */
    List<String> live(long now) {
        return key.leases().stream()
                .filter(lease -> lease.isLive(AHEAD + now))
                .map(StoredLease::lockId)
                .toList();
    }

    StoredLease row(String lock) {
        return key.leases().stream()
                .filter(lease -> lease.lockId().equals(lock))
                .findFirst()
                .orElseThrow();
    }

    long counter() {
        return key.lastFence();
    }

    /** The number of the next write of a holder. */
    long nextWrite() {
        return ++writes;
    }

    /** Whether the lock id has a queue entry. The rules delete lapsed entries first. */
    private boolean waits(String lock) {
        return key.queue().stream().anyMatch(entry -> entry.lockId().equals(lock));
    }

    /** Writes the changes, also beside rows that a bug hides. */
    private <T> T done(Decision<T> decision) {
        KeyChanges changes = decision.changes();
        key = new KeyState(
                key.key(),
                written(key.leases(), changes.leases(), StoredLease::lockId),
                written(key.queue(), changes.queue(), QueueEntry::lockId),
                decision.after().lastFence());
        wakeUps.send(decision.wakeUps());
        return decision.answer();
    }

    private static <R> List<R> written(List<R> rows, KeyChanges.Rows<R> changes, Function<R, String> lockId) {
        Map<String, R> all = new LinkedHashMap<>();
        rows.forEach(row -> all.put(lockId.apply(row), row));
        changes.deleted().forEach(row -> all.remove(lockId.apply(row)));
        changes.updated().forEach(row -> all.put(lockId.apply(row), row));
        changes.inserted().forEach(row -> all.put(lockId.apply(row), row));
        return List.copyOf(all.values());
    }
}
