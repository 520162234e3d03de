package io.syncguard.spi;

import java.util.List;

/**
 * The answer to a release.
 *
 * @param outcome what became of the lease, or of the queue entry
 * @param handOvers the grants that the release made to waiters of this process, in the order of their fences; empty if
 *     it made none, or if they are sent as messages
 * @param entered whether the requests in {@link ReleaseRequest#entering} got queue entries
 */
public record ReleaseResult(Outcome outcome, List<HandOver> handOvers, boolean entered) {

    public static final ReleaseResult RELEASED = of(Outcome.RELEASED);
    public static final ReleaseResult LEFT = of(Outcome.LEFT);
    public static final ReleaseResult EXPIRED = of(Outcome.EXPIRED);
    public static final ReleaseResult NOT_FOUND = of(Outcome.NOT_FOUND);
    public static final ReleaseResult BUSY = of(Outcome.BUSY);
    public static final ReleaseResult UNDECIDED = of(Outcome.UNDECIDED);

    public ReleaseResult {
        handOvers = List.copyOf(handOvers);
    }

    public ReleaseResult(Outcome outcome, List<HandOver> handOvers) {
        this(outcome, handOvers, false);
    }

    /** Released, and granted to the waiter of this process with this number. */
    public static ReleaseResult handedOver(long waiterNumber, AcquireResult.Granted grant) {
        return new ReleaseResult(Outcome.RELEASED, List.of(new HandOver(waiterNumber, grant)));
    }

    private static ReleaseResult of(Outcome outcome) {
        return new ReleaseResult(outcome, List.of());
    }

    /** What became of the lease, or of the queue entry. */
    public enum Outcome {

        /** The lease was live and has ended. */
        RELEASED,

        /** There was no lease, but a queue entry, which is deleted. */
        LEFT,

        /** The lease had lapsed before. */
        EXPIRED,

        /** No lease has this lock id: released, swept, or deleted when the key was granted to somebody else. */
        NOT_FOUND,

        /** An application transaction locks the row. The lease is unchanged; ask again. */
        BUSY,
        /** The store would have to wait for a locked row. Nothing has happened; the engine sends the release alone. */
        UNDECIDED
    }

    /**
     * What a message of {@link WakeUpListener#handOver} says.
     *
     * @param waiterNumber the number of the waiter, from its last {@link AcquireRequest}
     * @param grant the lease, which ends one {@link StoreInfo#waiterTtl} after the grant
     */
    public record HandOver(long waiterNumber, AcquireResult.Granted grant) {}
}
