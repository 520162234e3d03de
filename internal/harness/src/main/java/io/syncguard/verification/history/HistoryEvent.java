package io.syncguard.verification.history;

import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * One request, answer, observation or action of a process: a line in its history file.
 *
 * @param kind what happened
 * @param source the writer of the event
 * @param key the lock's key; empty for an event of a whole process
 * @param lock the hash of the lock id, never the lock id; empty where there is none
 * @param start {@link System#nanoTime} before it
 * @param end {@link System#nanoTime} after it; {@link #NEVER} while there is no answer
 * @param outcome the result
 * @param lease the answer of the server about the lease
 * @param value in HELD the remaining nanoseconds of the handle; in ACQUIRE and RENEW the milliseconds until the next
 *     attempt is worthwhile; in HANDED_OVER the number of the acquire request whose queue entry became the grant; in
 *     JOINED the fence of the outer lock; in EFFECT its number; in COMMITTED the version of the key; in LED the number
 *     of the term in its process; in PROCESS_STARTED the waiter ttl in milliseconds
 */
public record HistoryEvent(
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

    private static final String SHARED = "shared";

    public enum Kind {
        /** A request of the library to the server. */
        ACQUIRE,
        EXTEND,
        RELEASE,
        /**
         * A queue entry was renewed. OK if the waiter has to go on waiting; NOT_HELD if it has to send an acquire
         * request.
         */
        RENEW,
        /**
         * The message of a hand-over arrived; the ttl is that of the first lease. REFUSED if the waiter does not accept
         * a hand-over.
         */
        HANDED_OVER,
        /** A request of a client: by lock id if there is one, else by key. */
        LOOKUP,
        /** A handle answered that it is held. */
        HELD,
        /** A nested request joined an outer lock. */
        JOINED,
        /** A handle was released, and answered that it was held until then. */
        HANDLE_RELEASED,
        /** A listener or callback received a loss. */
        LOST,
        /** A handle answered that it is lost. */
        LOSS_SEEN,
        /** A write stamped with a fence. OK if the handle was still held after it, REFUSED if the store refused it. */
        EFFECT,
        /** A guarded transaction, begun under the lock, was committed. */
        COMMITTED,
        /** A process led the election of this key at a moment within this time. */
        LED,
        /** The test ended a lease in the store. */
        ENDED,
        /** The time from before a lease row was pinned until after it was unpinned. */
        PINNING,
        /** A time in which a lease row was certainly pinned. */
        PINNED,
        /** A time in which no grant of the key was possible; acquiredAt is the server's clock at the end. */
        SERIALISED,
        /** A sweeper checked the lapsed lease of this key. */
        SWEPT,
        /** The server was paused, and all requests to it waited. */
        STOPPED,
        /** The server was killed and started again. */
        RESTARTED,
        /** The server was killed and started again, and lost the changes that it had not written to its disk. */
        CRASHED,
        /** A client was interrupted by the test. */
        INTERRUPTED,
        /** An acquire failed. OK if it reported the interrupt and the flag was still set, FAILED otherwise. */
        ABORTED,
        /** A lease or a queue entry was found in the store, without the library. */
        SEEN,
        /** A time without a fault in the server, on the way to it, or in a process. */
        UNDISTURBED,
        /** The counter of the key at the end of the run. */
        COUNTER,
        /** A process has begun. */
        PROCESS_STARTED,
        /** The last moment at which a process can have acted. */
        PROCESS_ENDED
    }

    public enum Outcome {
        OK,
        REFUSED,
        /** Not granted, and a queue entry was made or renewed. */
        QUEUED,
        /** Not held, but a queue entry was deleted. */
        LEFT,
        BUSY,
        NOT_HELD,
        /** Nothing was done. */
        FAILED,
        /** In doubt: the operation took effect, did not, or may still do so. */
        UNKNOWN
    }

    /**
     * @param process name and incarnation of the process
     * @param client the thread, or its role
     * @param number of the event in its process
     */
    public record Source(String process, String client, long number) {}

    /**
     * Times in milliseconds of the server's clock; zero if unknown.
     *
     * @param fence the number of the grant
     * @param ttl in milliseconds, as requested
     * @param shared whether the requested mode is shared
     * @param permits how many shared leases the key may have with this one; 0 for no limit
     */
    public record Lease(long fence, long ttl, long acquiredAt, long expiresAt, boolean shared, int permits) {

        static final Lease NONE = new Lease(0, 0, 0, 0, false);

        /** A lease without a limit of shared leases. */
        public Lease(long fence, long ttl, long acquiredAt, long expiresAt, boolean shared) {
            this(fence, ttl, acquiredAt, expiresAt, shared, 0);
        }

        public static Lease ofTtl(long ttl) {
            return new Lease(0, ttl, 0, 0, false);
        }

        public static Lease ofFence(long fence) {
            return new Lease(fence, 0, 0, 0, false);
        }

        public static Lease extended(long ttl, long expiresAt) {
            return new Lease(0, ttl, 0, expiresAt, false);
        }

        public Lease shared(boolean shared) {
            return new Lease(fence, ttl, acquiredAt, expiresAt, shared);
        }

        /** Returns a copy with this number of permits; 0 for no limit. */
        public Lease permits(int permits) {
            return new Lease(fence, ttl, acquiredAt, expiresAt, shared, permits);
        }

        /** Returns a copy with the mode and the limit of this request. */
        public Lease as(Lease asked) {
            return shared(asked.shared).permits(asked.permits);
        }

        boolean isLimited() {
            return permits > 0;
        }

        /** Whether these two requests exclude each other in the queue: all do except readers without a limit. */
        boolean waitsFor(Lease other) {
            return !shared || !other.shared || isLimited() || other.isLimited();
        }

        /** Whether a waiter with this request accepts a hand-over. */
        boolean mayBeHanded(long waiterTtl) {
            return (!shared || isLimited()) && ttl >= waiterTtl;
        }

        private String mode() {
            return !shared ? "" : isLimited() ? SHARED + permits : SHARED;
        }
    }

    public static HistoryEvent of(Kind kind, Source source, String key, String lock, long start) {
        return new HistoryEvent(kind, source, key, lock, start, NEVER, Outcome.UNKNOWN, Lease.NONE, 0);
    }

    public HistoryEvent answered(long end, Outcome outcome) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    public HistoryEvent with(Lease lease) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    public HistoryEvent with(long value) {
        return new HistoryEvent(kind, source, key, lock, start, end, outcome, lease, value);
    }

    public HistoryEvent ofLock(String lock) {
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

    public String toLine() {
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
                lease.mode(),
                Long.toString(value));
    }

    /** @param shared returns one object for equal texts, because they repeat millions of times */
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
                new Lease(
                        numbers[9],
                        numbers[10],
                        numbers[11],
                        numbers[12],
                        fields[13].startsWith(SHARED),
                        permits(fields[13])),
                numbers[14]);
    }

    private static int permits(String mode) {
        return mode.length() > SHARED.length() ? Integer.parseInt(mode.substring(SHARED.length())) : 0;
    }

    /** The writer and the number of the event, for people. */
    String name() {
        return source.process + "/" + source.client + "#" + source.number + " ";
    }

    /** The writer, the kind, the time in seconds of the monotonic clock, and the answer, for people. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s%s %s%s lock=%.6s [%.6f, %s] %s fence=%d ttl=%d acquiredAt=%d expiresAt=%d value=%d",
                name(),
                kind,
                lease.shared ? lease.mode() + " " : "",
                key,
                lock,
                start / 1e9,
                end == NEVER ? "never" : String.format(Locale.ROOT, "%.6f", end / 1e9),
                outcome,
                lease.fence,
                lease.ttl,
                lease.acquiredAt,
                lease.expiresAt,
                value);
    }
}
