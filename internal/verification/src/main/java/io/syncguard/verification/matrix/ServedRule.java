package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Gaps.Gap;
import java.time.Duration;
import java.util.List;

/**
 * While a caller waits for a key, the key has no holder only for as long as a dead holder or a dead waiter explains.
 * The times of a fault, of the pause before the next connection attempt, and of a stalled machine are added.
 *
 * @param ttlMillis the ttl of the locks
 * @param tolerance added to the promised times, for other load on the machine
 */
record ServedRule(Recovery recovery, long ttlMillis, Absences absences, List<Round> rounds, Duration tolerance) {

    /** How a server and its clients recover from an outage. */
    interface Recovery {

        /**
         * How long processes may pause before they reconnect after an outage of this length, in milliseconds. HikariCP
         * doubles its pauses, up to five seconds.
         */
        default long longestPauseAfter(long outageMillis) {
            return Math.min(outageMillis, 5000);
        }

        /**
         * Whether the server may start with leases and queue entries that had ended. They block a key like those of a
         * dead process.
         */
        default boolean bringsBackEnded() {
            return false;
        }
    }

    private static final long WAITER_TTL_MILLIS = 5000;
    private static final long RECOVERY_MILLIS = 500;

    /** Two network timeouts. The release of an acquire in doubt arrives within that time. */
    private static final long IN_DOUBT_MILLIS = 2 * Site.NETWORK_TIMEOUT_MILLIS;

    private static final long MILLI = 1_000_000;

    List<String> check(List<Call> calls, List<Gap> gaps) {
        return gaps.stream()
                .filter(gap -> isTooLong(gap, calls))
                .map(gap -> "SERVED: the key " + gap.key() + " had no holder for " + gap.nanos() / MILLI
                        + " ms although somebody waited, from " + gap.from() + ", while " + during(gap))
                .toList();
    }

    private boolean isTooLong(Gap gap, List<Call> calls) {
        long least = tolerance.toMillis() + RECOVERY_MILLIS;
        if (gap.nanos() <= least * MILLI) {
            return false;
        }
        long faulty = rounds.stream()
                .mapToLong(round -> gap.overlap(round.from(), connected(round)))
                .sum();
        long excused = faulty + absences.ofMachine(gap.from(), gap.to());
        return gap.nanos() - excused > (blocked(gap, calls) + least) * MILLI;
    }

    /** How many milliseconds the lease of a dead holder, or the entry of a dead waiter, may block the key. */
    private long blocked(Gap gap, List<Call> calls) {
        boolean mayBeDead = recovery.bringsBackEnded()
                || calls.stream().anyMatch(call -> call.mayLeaveEntry(gap, absences, WAITER_TTL_MILLIS * MILLI));
        // A release may have handed the key over to the dead waiter.
        long lease = mayBeDead ? Math.max(ttlMillis, WAITER_TTL_MILLIS) : ttlMillis;
        // While all processes live, no caller waits for a lease to lapse: the engine releases leases in doubt in the
        // background.
        boolean allLive =
                !recovery.bringsBackEnded() && !absences.isAnyAbsent(gap.from() - ttlMillis * MILLI, gap.to());
        return allLive ? Math.min(lease, IN_DOUBT_MILLIS) : lease;
    }

    /** The time at which all processes have tried to reconnect. */
    private long connected(Round round) {
        return round.healed() + recovery.longestPauseAfter((round.healed() - round.from()) / MILLI) * MILLI;
    }

    /** The faults at the time of the gap, for the report. */
    private List<String> during(Gap gap) {
        return rounds.stream()
                .filter(round -> round.overlaps(gap))
                .map(round -> round.fault().name())
                .toList();
    }
}
