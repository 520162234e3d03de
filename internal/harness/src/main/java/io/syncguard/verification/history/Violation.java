package io.syncguard.verification.history;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A promise that a history breaks, with the events that show it.
 */
public record Violation(Rule rule, String message) {

    /** The promises. Each says what has to hold. */
    public enum Rule {
        DEADLINE("A handle is HELD only before its deadline, and never while another holder has the key."),
        FENCES("Fences grow by one with each grant, and only then."),
        ONE_LIVE_GRANT("No grant until each conflicting lease has been over for more than a second by "
                + "the server's clock."),
        PERMITS("When a request with permits is granted, the key has at most that many shared leases."),
        RELEASED_ONCE("A lease is released once, and gone from then on."),
        OVER_IS_OVER("A lease is neither released nor extended after its end."),
        JUSTIFIED_REFUSAL("No caller is refused a free key, or waits for one."),
        ORDER_OF_ARRIVAL("A waiter is granted before conflicting callers that arrived later."),
        NEWCOMERS_YIELD("A first attempt passes no waiter, even if it does not wait."),
        NEIGHBOURS("Readers do not wait for readers: adjacent readers in the queue enter together."),
        SAME_GRANT("An extension changes nothing but the end."),
        NOTHING_VANISHES("A live lease is found."),
        NOTHING_LEAKS("Every lease in the store was granted, or its outcome is unknown and it is released."),
        LOSS_REPORTED_ONCE("A loss is reported once, and never for a released handle."),
        JOIN("A nested request has the fence of the outer lock."),
        CLOCK_AFTER_LOCK("The server reads its clock after it has locked the serialising row."),
        PINNED_STAYS("A pinned lease is neither taken over nor released."),
        HAND_OVER("A release hands the key over to a waiter, whose deadline counts from a request "
                + "before the hand-over."),
        RELEASED_WHEN_ANSWERED("When a release answers true, the lease has ended at the server, even if the "
                + "thread was interrupted."),
        INTERRUPTS("An interrupt ends an acquire, which reports it, leaves the flag set, and "
                + "leaves no lease and no queue entry."),
        EFFECTS("A write under a lock that is still held precedes the writes of later holders."),
        COMMITS("Guarded commits of one key are in the order of their fences."),
        TERMS("At most one process leads at a time, and later terms have larger fences.");

        private final String promise;

        Rule(String promise) {
            this.promise = promise;
        }

        /** The promise in one sentence. */
        public String promise() {
            return promise;
        }

        /** Whether requests and answers show it. For the others, a run has to change the rows of the store itself. */
        public boolean isSeenByClients() {
            return this != CLOCK_AFTER_LOCK && this != PINNED_STAYS;
        }
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
