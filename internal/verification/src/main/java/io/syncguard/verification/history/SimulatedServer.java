package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistorySimulator.Bug;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The server of the model: the leases, the queue and the counter of one key. Times are milliseconds of the model's
 * clock; those in leases are of the server's clock.
 */
final class SimulatedServer {

    static final long WAITER_TTL = 5000;

    private static final long AHEAD = 1_700_000_000_000L;

    private final Bug bug;

    /** The leases by lock id. */
    private final Map<String, Row> rows = new LinkedHashMap<>();

    private final List<Entry> queue = new ArrayList<>();
    private long counter;
    private long writes;

    SimulatedServer(Bug bug) {
        this.bug = bug;
    }

    /** What a request asks for: 0 permits are no limit. */
    record Mode(boolean shared, int permits) {

        boolean waitsFor(Mode other) {
            return !shared || !other.shared || permits > 0 || other.permits > 0;
        }
    }

    record Row(boolean shared, long fence, long acquiredAt, long expiresAt) {

        Row acquiredAt(long now, long ttl) {
            return new Row(shared, fence, AHEAD + now, AHEAD + now + ttl);
        }

        Row until(long end) {
            return new Row(shared, fence, acquiredAt, end);
        }
    }

    /** @param acquire the number of the acquire request that made or renewed it last */
    record Entry(String lock, Mode mode, long ttl, long acquire, long expiresAt) {

        boolean mayBeHanded() {
            return (!mode.shared || mode.permits > 0) && ttl >= WAITER_TTL;
        }

        Entry until(long end) {
            return new Entry(lock, mode, ttl, acquire, end);
        }
    }

    /** REFUSED also if the caller's queue entry was deleted. */
    Outcome acquire(HistoryEvent asked, boolean waits, long now) {
        String lock = asked.lock();
        Mode mode = new Mode(asked.lease().shared(), asked.lease().permits());
        long ttl = asked.lease().ttl();
        if (isLive(lock, now)) {
            rows.put(lock, rows.get(lock).acquiredAt(now, ttl));
            return Outcome.OK;
        }
        int own = entry(lock, now);
        if (isTaken(mode, now) || isBehind(own, mode)) {
            if (waits) {
                queue(own, new Entry(lock, mode, ttl, asked.source().number(), now + WAITER_TTL));
                return Outcome.QUEUED;
            }
            leave(own);
            return Outcome.REFUSED;
        }
        leave(own);
        rows.keySet().removeIf(other -> !isLive(other, now));
        grant(lock, mode.shared, ttl, now);
        return Outcome.OK;
    }

    private void queue(int own, Entry entry) {
        if (own >= 0) {
            queue.set(own, entry);
        } else {
            queue.add(bug == Bug.THE_LAST_QUEUES_FIRST ? 0 : queue.size(), entry);
        }
    }

    private boolean leave(int own) {
        return own >= 0 && queue.remove(own) != null;
    }

    private void grant(String lock, boolean shared, long ttl, long now) {
        rows.put(lock, new Row(shared, ++counter, AHEAD + now, AHEAD + now + ttl));
    }

    boolean renew(String lock, long now) {
        int own = entry(lock, now);
        if (own >= 0) {
            queue.set(own, queue.get(own).until(now + WAITER_TTL));
        }
        return own >= 0;
    }

    boolean extend(String lock, long ttl, long now) {
        boolean live = isLive(lock, now);
        if (live) {
            rows.put(lock, rows.get(lock).until(AHEAD + now + ttl));
        }
        return live;
    }

    /** Releases a lease, or deletes a queue entry. */
    Outcome release(String lock, long now) {
        if (!isLive(lock, now)) {
            return leave(entry(lock, now)) ? Outcome.LEFT : Outcome.NOT_HELD;
        }
        if (bug == Bug.RELEASE_OF_A_READER_FREES_ALL && rows.get(lock).shared) {
            rows.clear();
        }
        rows.remove(lock);
        return Outcome.OK;
    }

    /** Hands over to the first waiters, as long as they accept that and nothing conflicts. */
    List<Entry> handOver(long now) {
        dropLapsedEntries(now);
        List<Entry> handed = new ArrayList<>();
        while (!queue.isEmpty()) {
            Entry first = queue.get(bug == Bug.THE_LAST_IS_HANDED_THE_KEY ? queue.size() - 1 : 0);
            boolean isTaken = first.mode.shared ? isTaken(first.mode, now) : !rows.isEmpty();
            if (isTaken || !first.mayBeHanded()) {
                break;
            }
            queue.remove(first);
            grant(first.lock, first.mode.shared, WAITER_TTL, now);
            handed.add(first);
        }
        return handed;
    }

    void end(String lock) {
        rows.remove(lock);
    }

    /** The lock ids of the waiters that can be granted the key. */
    List<String> grantable(long now) {
        return queue.stream()
                .filter(entry -> !isTaken(entry.mode, now) && !isBehind(queue.indexOf(entry), entry.mode))
                .map(Entry::lock)
                .toList();
    }

    /** The lock ids of live leases. */
    List<String> live(long now) {
        return rows.keySet().stream().filter(lock -> isLive(lock, now)).toList();
    }

    Row row(String lock) {
        return rows.get(lock);
    }

    long counter() {
        return counter;
    }

    private boolean isTaken(Mode mode, long now) {
        return live(now).stream()
                        .map(rows::get)
                        .filter(row -> bug != Bug.WRITERS_IGNORE_READERS || mode.shared || !row.shared)
                        .filter(row -> bug != Bug.READERS_IGNORE_WRITERS || !mode.shared || row.shared)
                        .filter(row -> bug != Bug.PERMITS_IGNORE_WRITERS || mode.permits == 0 || row.shared)
                        .anyMatch(row -> bug == Bug.READERS_STOP_READERS || !mode.shared || !row.shared)
                || mode.permits > 0 && live(now).size() >= mode.permits + change();
    }

    /** By how much a planted bug changes the number of permits. */
    private int change() {
        return bug == Bug.ONE_PERMIT_TOO_MANY ? 1 : bug == Bug.LAST_PERMIT_IS_NOT_GIVEN ? -1 : 0;
    }

    /** Whether a conflicting waiter is in front. */
    private boolean isBehind(int own, Mode mode) {
        if (bug == Bug.TRIES_PASS_WHO_WAITS && own < 0) {
            return false;
        }
        return queue.subList(0, own < 0 ? queue.size() : own).stream()
                .map(Entry::mode)
                .filter(front -> bug != Bug.READERS_PASS_WAITING_WRITERS || !mode.shared)
                .filter(front -> bug != Bug.WRITERS_PASS_EACH_OTHER || mode.shared || front.shared)
                .filter(front -> bug != Bug.LARGER_NUMBERS_PASS_SMALLER_ONES || mode.permits <= front.permits)
                .filter(front -> bug != Bug.READERS_PASS_WHO_WAITS_FOR_PERMITS
                        || !mode.shared
                        || mode.permits > 0
                        || front.permits == 0)
                .anyMatch(mode::waitsFor);
    }

    /** Its position among the live queue entries; negative without one. */
    private int entry(String lock, long now) {
        dropLapsedEntries(now);
        return queue.stream().map(Entry::lock).toList().indexOf(lock);
    }

    private void dropLapsedEntries(long now) {
        queue.removeIf(entry -> entry.expiresAt <= now);
    }

    private boolean isLive(String lock, long now) {
        return rows.containsKey(lock) && rows.get(lock).expiresAt > AHEAD + now - LeaseHistory.TOLERANCE_MILLIS;
    }

    /** The number of the next write of a holder. */
    long nextWrite() {
        return ++writes;
    }
}
