package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Gaps.Gap;
import java.time.Duration;
import java.util.List;

/**
 * While somebody waits for a key, it is not without a holder for longer than a dead holder or a dead waiter explains.
 * The time of a fault, of the pause before the next attempt to connect, and of a stalled machine is extra.
 *
 * @param ttlMillis of the locks
 * @param tolerance beyond the promised times, for what else the machine does
 */
record ServedRule(Recovery recovery, long ttlMillis, Absences absences, List<Round> rounds, Duration tolerance) {

    /** What a server and its clients do after an outage. */
    interface Recovery {

        /**
         * How long processes may pause before they connect again after an outage of this length, in milliseconds. A
         * pool of HikariCP doubles its pauses, up to five seconds.
         */
        default long longestPauseAfter(long outageMillis) {
            return Math.min(outageMillis, 5000);
        }

        /**
         * Whether the server may start with leases and queue entries that had ended: they keep a key from others like
         * those of a dead process.
         */
        default boolean bringsBackEnded() {
            return false;
        }
    }

    private static final long WAITER_TTL_MILLIS = 5000;
    private static final long RECOVERY_MILLIS = 500;

    /** Two network timeouts, in which the release of an acquire in doubt arrives. */
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

    /** For so many milliseconds the lease of a dead holder, or the entry of a dead waiter, may keep the key. */
    private long blocked(Gap gap, List<Call> calls) {
        boolean mayBeDead = recovery.bringsBackEnded()
                || calls.stream().anyMatch(call -> call.mayLeaveEntry(gap, absences, WAITER_TTL_MILLIS * MILLI));
        // A release may have handed the key over to the dead waiter.
        long lease = mayBeDead ? Math.max(ttlMillis, WAITER_TTL_MILLIS) : ttlMillis;
        // While all processes live, nobody waits for the end of a lease: what is in doubt is released in the
        // background.
        boolean allLive =
                !recovery.bringsBackEnded() && !absences.isAnyAbsent(gap.from() - ttlMillis * MILLI, gap.to());
        return allLive ? Math.min(lease, IN_DOUBT_MILLIS) : lease;
    }

    /** When all processes have tried to connect again. */
    private long connected(Round round) {
        return round.healed() + recovery.longestPauseAfter((round.healed() - round.from()) / MILLI) * MILLI;
    }

    /** The faults at that time, for somebody who looks for the reason. */
    private List<String> during(Gap gap) {
        return rounds.stream()
                .filter(round -> round.overlaps(gap))
                .map(round -> round.fault().name())
                .toList();
    }
}
