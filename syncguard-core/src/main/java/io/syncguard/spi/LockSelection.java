package io.syncguard.spi;

import io.syncguard.LockInfo;
import io.syncguard.LockPage;
import io.syncguard.LockPosition;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Selects a page from locks in any order, for stores that can neither compare nor sort. Keeps no more locks than the
 * page has. For one thread.
 */
public final class LockSelection {

    /** How many waiters of a key are compared with the part of an owner. */
    public static final int MAX_COMPARED = 10_000;

    private final LockQuery query;
    private final LockPosition begin;
    private final Function<LockStatus, String> name;
    private final TreeMap<LockPosition, LockStatus> found = new TreeMap<>();

    /** A selection that names each lock by its key. */
    public LockSelection(LockQuery query) {
        this(query, LockStatus::key);
    }

    /** @param name stands for the key of a lock in the order and in the {@linkplain LockPage#next position} */
    public LockSelection(LockQuery query, Function<LockStatus, String> name) {
        this.query = query;
        this.begin = query.position();
        this.name = name;
    }

    /** How many waiters of each lock to read for this query. */
    public static int entries(LockQuery query) {
        return query.owner().isEmpty() ? LockStatus.MAX_QUEUE : MAX_COMPARED;
    }

    /** Whether a key fits, whatever its lease and its queue. */
    public static boolean fits(LockQuery query, String key) {
        return key.startsWith(query.prefix()) && key.contains(query.part());
    }

    /** Whether a lock fits, whatever its key. */
    public static boolean fits(LockQuery query, LockStatus lock) {
        Stream<String> owners = Stream.concat(
                lock.holders().stream().map(LockInfo::owner),
                lock.queue().stream().map(LockStatus.Waiter::owner));
        return (lock.waiters() > 0 || !query.isWaitedFor())
                && (query.owner().isEmpty() || owners.anyMatch(owner -> owner.contains(query.owner())));
    }

    /** Takes the lock if it fits and is among the first. */
    public void offer(LockStatus lock) {
        LockPosition own = LockPosition.of(query.order(), lock);
        LockPosition position = new LockPosition(own.order(), own.millis(), name.apply(lock));
        if (position.compareTo(begin) > 0 && fits(query, lock.key()) && fits(query, lock)) {
            found.put(position, lock);
            if (found.size() > query.limit() + 1) {
                found.pollLastEntry();
            }
        }
    }

    /** Whether it has one more lock than the page, which shows that there is another page. */
    public boolean isFull() {
        return found.size() > query.limit();
    }

    /** The first locks of those that were offered, each with at most {@value LockStatus#MAX_QUEUE} waiters. */
    public LockPage page() {
        String next = isFull()
                ? found.keySet().stream()
                        .skip(query.limit() - 1L)
                        .findFirst()
                        .map(LockPosition::toString)
                        .orElseThrow()
                : null;
        return new LockPage(
                found.values().stream()
                        .limit(query.limit())
                        .map(LockSelection::shortened)
                        .toList(),
                next);
    }

    private static LockStatus shortened(LockStatus lock) {
        return new LockStatus(
                lock.key(),
                lock.at(),
                lock.holders(),
                lock.queue().stream().limit(LockStatus.MAX_QUEUE).toList(),
                lock.waiters());
    }
}
