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
        /** At most as many shared leases at once as a request with permits says, when it is granted. */
        PERMITS,
        /** Released once, and gone from then on. */
        RELEASED_ONCE,
        /** Neither released nor extended after its end. */
        OVER_IS_OVER,
        /** No caller is refused a free key, or waits for one. */
        JUSTIFIED_REFUSAL,
        /** A waiter is granted before conflicting callers that arrived later. */
        ORDER_OF_ARRIVAL,
        /** A first try, also one that does not wait, passes no waiter. */
        NEWCOMERS_YIELD,
        /** Readers do not wait for readers: adjacent readers in the queue enter together. */
        NEIGHBOURS,
        /** An extension changes nothing but the end. */
        SAME_GRANT,
        /** A live lease is found. */
        NOTHING_VANISHES,
        /** Every lease was granted, or is of unknown outcome and then released. */
        NOTHING_LEAKS,
        /** A loss is reported once, and never for a released handle. */
        LOSS_REPORTED_ONCE,
        /** A nested request has the fence of the outer lock. */
        JOIN,
        /** The server's clock is read after the serialising row was won. */
        CLOCK_AFTER_LOCK,
        /** A pinned lease is neither taken over nor released. */
        PINNED_STAYS,
        /** A release hands the key over to a waiter, whose deadline counts from a request before that. */
        HAND_OVER,
        /** When a release answers true, the lease has ended at the server, however often the thread is interrupted. */
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
