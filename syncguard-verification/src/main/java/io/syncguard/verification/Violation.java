package io.syncguard.verification;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A promise that a history breaks, with the events that show it.
 */
record Violation(Rule rule, String message) {

    enum Rule {
        /** A handle says HELD only before its deadline, and never when somebody else was granted the key. */
        BELIEF,
        /** Fences grow by one with each grant, and only then. */
        FENCES,
        /** No grant before each lease that conflicts is over by more than a second of the server's clock. */
        ONE_LIVE_GRANT,
        /** Released once, and gone from then on. */
        RELEASED_ONCE,
        /** Neither released nor extended after its end. */
        OVER_IS_OVER,
        /** Nobody is refused a free key, or waits for one. */
        JUSTIFIED_REFUSAL,
        /** Whoever waits is granted before those who asked later and conflict. */
        ORDER_OF_ARRIVAL,
        /** A first try, also one that does not wait, passes nobody who waits. */
        NEWCOMERS_YIELD,
        /** Readers do not wait for readers: those that stand next to each other enter together. */
        NEIGHBOURS,
        /** An extension changes nothing but the end. */
        SAME_GRANT,
        /** A live lease is found. */
        NOTHING_VANISHES,
        /** A lease is somebody's: granted, or of unknown outcome and then released. */
        NOTHING_LEAKS,
        /** A loss is told once, and not of what was given back. */
        TOLD_ONCE,
        /** A nested request has the fence of the outer hold. */
        JOIN,
        /** The server's clock is read after the serialising row was won. */
        CLOCK_AFTER_LOCK,
        /** Nobody takes or releases a pinned lease. */
        PINNED_STAYS,
        /** A release hands the key to somebody who waits for it, and who believes in it from before that. */
        HAND_OVER,
        /** What a release says it has given back is given back at the server by then, however often its thread is interrupted. */
        RELEASED_WHEN_SAID,
        /** An interrupt ends an acquire, which says so, keeps the flag and leaves nothing behind. */
        INTERRUPTS,
        /** What was written under a lock that is still held comes before what its successors write. */
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
