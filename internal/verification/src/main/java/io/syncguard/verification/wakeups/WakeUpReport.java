package io.syncguard.verification.wakeups;

import java.util.Arrays;
import java.util.List;

/**
 * The result of one or several processes whose waiters depend on wake-ups alone.
 *
 * @param stuck number of threads that have not ended their work
 * @param handedOver number of grants to waiters by a hand-over
 * @param fetched number of grants to waiters by an acquire request after a wake-up
 * @param gaveUp number of callers whose wait time was over
 * @param interrupted number of interrupted callers
 * @param shortened number of leases that were ended early
 * @param failed number of calls that failed in any other way
 * @param longestWaitMillis the longest wait of callers who neither gave up nor were interrupted
 * @param longestCalmWaitMillis the longest such wait for calm keys, on which no lease ends early
 */
record WakeUpReport(
        int stuck,
        int handedOver,
        int fetched,
        int gaveUp,
        int interrupted,
        int shortened,
        int failed,
        long longestWaitMillis,
        long longestCalmWaitMillis) {

    /** Whether every kind of event has occurred. */
    boolean isEnough() {
        return handedOver > 100 && fetched > 100 && gaveUp > 0 && interrupted > 0 && shortened > 0;
    }

    String toLine() {
        return stuck + " " + handedOver + " " + fetched + " " + gaveUp + " " + interrupted + " " + shortened + " "
                + failed + " " + longestWaitMillis + " " + longestCalmWaitMillis;
    }

    static WakeUpReport ofLine(String line) {
        int[] numbers =
                Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
        return new WakeUpReport(
                numbers[0],
                numbers[1],
                numbers[2],
                numbers[3],
                numbers[4],
                numbers[5],
                numbers[6],
                numbers[7],
                numbers[8]);
    }

    static WakeUpReport sum(List<WakeUpReport> reports) {
        return reports.stream()
                .reduce(
                        new WakeUpReport(0, 0, 0, 0, 0, 0, 0, 0, 0),
                        (one, other) -> new WakeUpReport(
                                one.stuck + other.stuck,
                                one.handedOver + other.handedOver,
                                one.fetched + other.fetched,
                                one.gaveUp + other.gaveUp,
                                one.interrupted + other.interrupted,
                                one.shortened + other.shortened,
                                one.failed + other.failed,
                                Math.max(one.longestWaitMillis, other.longestWaitMillis),
                                Math.max(one.longestCalmWaitMillis, other.longestCalmWaitMillis)));
    }
}
