package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Gaps.Gap;

/**
 * One call of a client for one key. Times are {@link System#nanoTime}, which all processes of a machine share; zero
 * means never.
 *
 * @param process name and incarnation
 * @param number of the call in its process
 * @param kind how the call used the lock
 * @param start the time before the request for the lock
 * @param granted the time of the grant; with two keys, the body begins after both
 * @param held a time just before the last check in the body that found the handle held
 * @param end the time of the release or of the failure
 * @param waitMillis the wait time of the call
 * @param fence of the grant
 * @param outcome {@code OK}, {@code OPEN} while it runs, the code of a lock's error, or {@code DATABASE} for another
 *     error of the body
 */
record Call(
        String process,
        long number,
        Kind kind,
        String key,
        long start,
        long granted,
        long held,
        long end,
        long waitMillis,
        long fence,
        String outcome) {

    static final String OK = "OK";
    static final String OPEN = "OPEN";
    static final int PERMITS = 2;
    static final String DATABASE = "DATABASE";

    enum Kind {
        /** Writes in a guarded transaction of the database that has the locks. */
        GUARDED,
        /** The same, and takes the lock inside the transaction; some are rolled back. */
        INSIDE,
        /** Writes in a transaction that a {@code FenceGuard} checks. */
        FENCED,
        /** Writes without a guard. */
        PLAIN,
        /** One attempt without a wait; writes nothing. */
        TRY,
        /** Two keys at once; writes nothing. */
        PAIR,
        /** A shared lock. */
        READ,
        /** One of {@link #PERMITS} permits. */
        PERMIT;

        boolean isShared() {
            return this == READ || this == PERMIT;
        }
    }

    static Call begin(String process, long number, Kind kind, String key, long waitMillis) {
        return new Call(process, number, kind, key, System.nanoTime(), 0, 0, 0, waitMillis, 0, OPEN);
    }

    Call granted(long fence) {
        return new Call(process, number, kind, key, start, System.nanoTime(), 0, 0, waitMillis, fence, OPEN);
    }

    Call held(long at) {
        return new Call(process, number, kind, key, start, granted, at, 0, waitMillis, fence, OPEN);
    }

    Call ended(String outcome) {
        return new Call(
                process, number, kind, key, start, granted, held, System.nanoTime(), waitMillis, fence, outcome);
    }

    boolean isGranted() {
        return granted != 0;
    }

    /**
     * Whether the call waited for the key of this gap in a process that was gone or stood still during the gap or
     * shortly before it.
     */
    boolean mayLeaveEntry(Gap gap, Absences absences, long waiterTtlNanos) {
        return key.equals(gap.key())
                && start < gap.to()
                && waitMillis > 0
                && absences.isAbsent(
                        process, Math.max(start, gap.from() - waiterTtlNanos), isGranted() ? granted : gap.to());
    }

    String toLine() {
        return String.join(
                "\t",
                process,
                Long.toString(number),
                kind.name(),
                key,
                Long.toString(start),
                Long.toString(granted),
                Long.toString(held),
                Long.toString(end),
                Long.toString(waitMillis),
                Long.toString(fence),
                outcome);
    }

    static Call ofLine(String line) {
        String[] words = line.split("\t");
        return new Call(
                words[0],
                Long.parseLong(words[1]),
                Kind.valueOf(words[2]),
                words[3],
                Long.parseLong(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7]),
                Long.parseLong(words[8]),
                Long.parseLong(words[9]),
                words[10]);
    }
}
