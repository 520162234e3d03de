package io.syncguard.verification.history;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A promise that a history breaks, with the events that show it.
 */
public record Violation(Rule rule, String message) {

    public enum Rule {
        /** A handle is HELD only before its deadline, and never while another holder has the key. */
        DEADLINE,
        /** Fences grow by one with each grant, and only then. */
        FENCES,
        /** No grant until each conflicting lease has been over for more than a second by the server's clock. */
        ONE_LIVE_GRANT,
        /** When a request with permits is granted, the key has at most that many shared leases. */
        PERMITS,
        /** A lease is released once, and gone from then on. */
        RELEASED_ONCE,
        /** A lease is neither released nor extended after its end. */
        OVER_IS_OVER,
        /** No caller is refused a free key, or waits for one. */
        JUSTIFIED_REFUSAL,
        /** A waiter is granted before conflicting callers that arrived later. */
        ORDER_OF_ARRIVAL,
        /** A first attempt passes no waiter, even if it does not wait. */
        NEWCOMERS_YIELD,
        /** Readers do not wait for readers: adjacent readers in the queue enter together. */
        NEIGHBOURS,
        /** An extension changes nothing but the end. */
        SAME_GRANT,
        /** A live lease is found. */
        NOTHING_VANISHES,
        /** Every lease in the store was granted, or its outcome is unknown and it is released. */
        NOTHING_LEAKS,
        /** A loss is reported once, and never for a released handle. */
        LOSS_REPORTED_ONCE,
        /** A nested request has the fence of the outer lock. */
        JOIN,
        /** The server reads its clock after it has locked the serialising row. */
        CLOCK_AFTER_LOCK,
        /** A pinned lease is neither taken over nor released. */
        PINNED_STAYS,
        /** A release hands the key over to a waiter, whose deadline counts from a request before the hand-over. */
        HAND_OVER,
        /** When a release answers true, the lease has ended at the server, even if the thread was interrupted. */
        RELEASED_WHEN_ANSWERED,
        /**
         * An interrupt ends an acquire, which reports it, leaves the flag set, and leaves no lease and no queue entry.
         */
        INTERRUPTS,
        /** A write under a lock that is still held precedes the writes of later holders. */
        EFFECTS
    }

    static Violation of(Rule rule, String what, HistoryEvent... events) {
        return new Violation(
                rule,
                what + Arrays.stream(events).map(event -> "\n    " + event).collect(Collectors.joining()));
    }

    @Override
    public String toString() {
        return rule + ": " + message;
    }
}
