package io.syncguard.verification;

import java.util.function.UnaryOperator;

/**
 * One thing that a process asked, was told, believed or did. A line in its history file.
 *
 * @param kind what it was
 * @param source who wrote it down
 * @param key the lock's key; empty for what concerns a whole process
 * @param lock the hash of the lock id, never the lock id; empty where there is none
 * @param start {@link System#nanoTime} before it
 * @param end {@link System#nanoTime} after it; {@link #NEVER} while there is no answer
 * @param outcome what came of it
 * @param lease what the server said of the lease
 * @param value in HELD the nanoseconds that the handle says it has left; in ACQUIRE and KEEP the milliseconds until it is
 *     worth to ask again; in HANDED_OVER the number of the claim whose place became the grant; in JOINED the fence of the
 *     outer hold; in EFFECT its number; in PROCESS_STARTED the milliseconds that its places live
 */
record HistoryEvent(
        Kind kind,
        Source source,
        String key,
        String lock,
        long start,
        long end,
        Outcome outcome,
        Lease lease,
        long value) {

    static final long NEVER = Long.MAX_VALUE;

    enum Kind {
        /** Asked of the server by the library. */
        ACQUIRE,
        EXTEND,
        RELEASE,
        /** The place of a waiter was kept. OK when the server said that it has to wait on; NOT_HELD when it is to claim. */
        KEEP,
        /**
         * The news came that a release has granted the key to somebody who waits; the ttl is that of the first lease. REFUSED when
         * that one had not said that it may be handed the key.
         */
        HANDED_OVER,
        /** Asked by a client: by lock id, or without one by key. */
        LOOKUP,
        /** A handle was asked whether it is held, and said yes. */
        HELD,
        /** A nested request joined an outer hold. */
        JOINED,
        /** A handle was released, and said that it was held until then. */
        GIVEN_BACK,
        /** A listener or callback was told that a grant is lost. */
        LOST,
        /** A handle was asked, and said that it is lost. */
        LOSS_SEEN,
        /** A write stamped with a fence. OK when the handle was still held after it, REFUSED when the store did not take it. */
        EFFECT,
        /** The test ended a lease in the store. */
        ENDED,
        /** From before a lease row was pinned until after it was let go. */
        PINNING,
        /** While a lease row was pinned for certain. */
        PINNED,
        /** While nobody can have been granted the key; acquiredAt is the server's clock at the end. */
        SERIALISED,
        /** A sweeper looked at the lapsed lease of this key. */
        SWEPT,
        /** The server stood still, and all that was sent to it waited. */
        STOPPED,
        /** The server was killed and started again. */
        RESTARTED,
        /** A client was interrupted by the test. */
        INTERRUPTED,
        /** An acquire failed. OK when it said that it was interrupted and the flag was kept, FAILED when it ended otherwise. */
        ABORTED,
        /** A lease or the place of a waiter was in the store, which was asked past the library. */
        SEEN,
        /** While nobody disturbed the server, the way to it, or a process. */
        UNDISTURBED,
        /** The counter of the key at the end of the run. */
        COUNTER,
        /** A process has begun. */
        PROCESS_STARTED,
        /** The last moment at which a process can have done anything. */
        PROCESS_ENDED
    }

    enum Outcome {
        OK,
        REFUSED,
        /** Refused, and given a place in the queue. */
        QUEUED,
        /** Not held, but a place in the queue was given up. */
        LEFT,
        BUSY,
        NOT_HELD,
        /** Nothing was done. */
        FAILED,
        /** It was done, was not, or will be. */
        UNKNOWN
    }

    /**
     * @param process name and incarnation of the process
     * @param client the thread, or whatever it acts for
     * @param number of the event in its process
     */
    record Source(String process, String client, long number) {}

    /**
     * Times in milliseconds of the server's clock, zero where nothing was said.
     *
     * @param fence the number of the grant
     * @param ttl in milliseconds, as it was asked for
     * @param shared whether it stands beside others that are shared, as it was asked for
     */
    record Lease(long fence, long ttl, long acquiredAt, long expiresAt, boolean shared) {

        static final Lease NONE = new Lease(0, 0, 0, 0, false);

        static Lease ofTtl(long ttl) {
            return new Lease(0, ttl, 0, 0, false);
        }

        static Lease ofFence(long fence) {
            return new Lease(fence, 0, 0, 0, false);
        }

        static Lease extended(long ttl, long expiresAt) {
            return new Lease(0, ttl, 0, expiresAt, false);
        }

        Lease shared(boolean shared) {
            return new Lease(fence, ttl, acquiredAt, expiresAt, shared);
        }
    }

    static HistoryEvent of(Kind kind, Source source, String key, String lock, long start) {
        return new HistoryEvent(kind, source, key, lock, start, NEVER, Outcome.UNKNOWN, Lease.NONE, 0);
    }

    HistoryEvent answered(long end, Outcome outcome) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    HistoryEvent with(Lease lease) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    HistoryEvent with(long value) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    HistoryEvent ofLock(String lock) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    boolean is(Kind kind) {
        return this.kind == kind;
    }

    boolean is(Kind kind, Outcome outcome) {
        return this.kind == kind && this.outcome == outcome;
    }

    boolean mayHaveHappened() {
        return outcome == Outcome.OK || outcome == Outcome.UNKNOWN;
    }

    String toLine() {
        return String.join(
                "\t",
                kind.name(),
                source.process,
                source.client,
                Long.toString(source.number),
                key,
                lock,
                Long.toString(start),
                Long.toString(end),
                outcome.name(),
                Long.toString(lease.fence),
                Long.toString(lease.ttl),
                Long.toString(lease.acquiredAt),
                Long.toString(lease.expiresAt),
                lease.shared ? "shared" : "",
                Long.toString(value));
    }

    /** @param shared gives one object for equal texts: they repeat millions of times */
    static HistoryEvent ofLine(String line, UnaryOperator<String> shared) {
        String[] fields = line.split("\t", -1);
        long[] numbers = new long[fields.length];
        for (int i : new int[] {3, 6, 7, 9, 10, 11, 12, 14}) {
            numbers[i] = Long.parseLong(fields[i]);
        }
        return new HistoryEvent(
                Kind.valueOf(fields[0]),
                new Source(shared.apply(fields[1]), shared.apply(fields[2]), numbers[3]),
                shared.apply(fields[4]),
                shared.apply(fields[5]),
                numbers[6],
                numbers[7],
                Outcome.valueOf(fields[8]),
                new Lease(numbers[9], numbers[10], numbers[11], numbers[12], fields[13].equals("shared")),
                numbers[14]);
    }

    /** For people: who wrote it down, and which of its events it is. */
    String name() {
        return source.process + "/" + source.client + "#" + source.number + " ";
    }

    /** For people: who, what, when in seconds of the monotonic clock, and what was said. */
    @Override
    public String toString() {
        return String.format(
                "%s%s %s%s lock=%.6s [%.6f, %s] %s fence=%d ttl=%d acquiredAt=%d expiresAt=%d value=%d",
                name(),
                kind,
                lease.shared ? "shared " : "",
                key,
                lock,
                start / 1e9,
                end == NEVER ? "never" : String.format("%.6f", end / 1e9),
                outcome,
                lease.fence,
                lease.ttl,
                lease.acquiredAt,
                lease.expiresAt,
                value);
    }
}
