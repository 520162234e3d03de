package io.syncguard.leader;

/**
 * Receives the events of the members of this process. Every bean of this type receives those of all elections.
 *
 * <p>Each member dispatches its events in their order on one thread, {@code syncguard-leader-<name>-events}. A listener
 * that blocks delays the next events, but neither heartbeats nor the moment at which {@link LeaderMember#isLeader}
 * turns false. So events may come late: ask {@link LeaderMember#isLeader} before each step that only a leader may take.
 * The lock is released when {@link #revoked} has returned everywhere, or the shutdown timeout is over. While a hundred
 * events wait, further rotations are left out. What a listener throws is logged and changes nothing.
 */
public interface LeaderListener {

    /** The member has joined its election, and campaigns or will do so when the application runs. */
    default void joined(LeaderMember member) {}

    /** The member leads. */
    default void elected(LeaderElectedEvent event) {}

    /** The member leads on under a new fence. */
    default void fenceRotated(LeaderFenceRotatedEvent event) {}

    /** The term of the member has ended. Follows each {@link #elected}, once. */
    default void revoked(LeaderRevokedEvent event) {}
}
