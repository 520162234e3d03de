package io.syncguard.verification;

import io.syncguard.postgres.PostgresSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the history of one key cannot say by itself: when each process ended, when its late releases were held up, how long
 * its places live, and when nobody disturbed anything.
 */
final class ProcessTimes {

    /** What a process owes is not asked of one that ended within five seconds. */
    static final long GRACE_NANOS = 5_000_000_000L;

    private static final long USUAL_PLACE_TTL_MILLIS = PostgresSettings.WAITER_TTL.toMillis();

    private final Map<String, Long> ends = new HashMap<>();
    private final Map<String, Long> placeTtls = new HashMap<>();
    private final Map<String, NavigableSet<Long>> stuckReleases = new HashMap<>();
    private final NavigableMap<Long, Long> undisturbed = new TreeMap<>();

    /** The process was alive then. */
    void sawAlive(String process, long at) {
        ends.merge(process, at, Math::max);
    }

    /** The thread for late releases was busy with one of them for long, until then. */
    void sawReleaseStuck(String process, long at) {
        stuckReleases.computeIfAbsent(process, any -> new TreeSet<>()).add(at);
    }

    /** Nobody disturbed anything then. */
    void sawUndisturbed(long from, long to) {
        undisturbed.put(from, to);
    }

    /** Whether nobody disturbed anything during the whole of the event. */
    boolean wasUndisturbed(HistoryEvent event) {
        Map.Entry<Long, Long> stretch = undisturbed.floorEntry(event.start());
        return stretch != null && event.end() <= stretch.getValue();
    }

    /** The places of the process in a queue, and the first leases of what it is handed over, live for so long. */
    void sawPlaceTtl(String process, long millis) {
        placeTtls.put(process, millis);
    }

    /** In milliseconds; five seconds unless it said something else. */
    long placeTtlOf(String process) {
        return placeTtls.getOrDefault(process, USUAL_PLACE_TTL_MILLIS);
    }

    /** After this it did nothing any more. One of which nothing is known never ended. */
    long endOf(String process, long otherwise) {
        return ends.getOrDefault(process, otherwise);
    }

    /** Whether late releases of the process were held up at a time between these two. */
    boolean releasesWereStuck(String process, long from, long to) {
        Long first = stuckReleases.getOrDefault(process, new TreeSet<>()).ceiling(from);
        return first != null && first <= to;
    }
}
