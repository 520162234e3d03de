package io.syncguard.verification.history;

import io.syncguard.postgres.PostgresSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Facts that are not in the history of a single key: when each process ended, when its late releases were delayed, its
 * waiter ttl, and the times without a fault.
 */
final class ProcessTimes {

    /** A process that ended within five seconds may have left its duties undone. */
    static final long GRACE_NANOS = 5_000_000_000L;

    /** PostgreSQL writes WAL after three times its {@code wal_writer_delay} at the latest, 0.6 s. */
    private static final long UNWRITTEN_NANOS = 1_000_000_000L;

    private static final long DEFAULT_WAITER_TTL_MILLIS = PostgresSettings.WAITER_TTL.toMillis();

    private final Map<String, Long> ends = new HashMap<>();
    private final Map<String, Long> waiterTtls = new HashMap<>();
    private final Map<String, NavigableSet<Long>> stuckReleases = new HashMap<>();
    private final NavigableMap<Long, Long> undisturbed = new TreeMap<>();
    private final NavigableMap<Long, Long> crashes = new TreeMap<>();

    /** Notes that the process was alive at this time. */
    void sawAlive(String process, long at) {
        ends.merge(process, at, Math::max);
    }

    /** Notes that the thread for late releases was busy with a single long release until this time. */
    void sawReleaseStuck(String process, long at) {
        stuckReleases.computeIfAbsent(process, any -> new TreeSet<>()).add(at);
    }

    /** Notes a time without a fault. */
    void sawUndisturbed(long from, long to) {
        undisturbed.put(from, to);
    }

    /** Whether there was no fault during the whole event. */
    boolean wasUndisturbed(HistoryEvent event) {
        Map.Entry<Long, Long> stretch = undisturbed.floorEntry(event.start());
        return stretch != null && event.end() <= stretch.getValue();
    }

    /** Notes that the server was killed and started again between these times. */
    void sawCrash(long from, long to) {
        crashes.put(from, to);
    }

    /**
     * The next crash, at which the server may have lost a change of this time that did not wait for the disk. Releases
     * and queue entries do not wait.
     */
    long crashAfter(long time) {
        return crashes.entrySet().stream()
                .filter(crash -> crash.getValue() > time)
                .mapToLong(crash -> Math.max(crash.getKey(), time))
                .findFirst()
                .orElse(HistoryEvent.NEVER);
    }

    /** Whether the server may have lost this change, which did not wait for the disk. */
    boolean mayBeUndone(HistoryEvent change) {
        return crashAfter(change.start()) < change.end() + UNWRITTEN_NANOS;
    }

    /** Notes the ttl of the process's queue entries, and of its first leases after a hand-over. */
    void sawWaiterTtl(String process, long millis) {
        waiterTtls.put(process, millis);
    }

    /** The waiter ttl in milliseconds: five seconds unless the process reported another one. */
    long waiterTtlOf(String process) {
        return waiterTtls.getOrDefault(process, DEFAULT_WAITER_TTL_MILLIS);
    }

    /** The time after which the process did nothing; the given value if its end is unknown. */
    long endOf(String process, long otherwise) {
        return ends.getOrDefault(process, otherwise);
    }

    /** Whether late releases of the process were delayed at some time between these two. */
    boolean releasesWereStuck(String process, long from, long to) {
        Long first = stuckReleases.getOrDefault(process, new TreeSet<>()).ceiling(from);
        return first != null && first <= to;
    }
}
