package io.syncguard.leader;

/**
 * Is told what becomes of the members of this process. Every bean of this type is told of all elections.
 *
 * <p>News of one member come one after the other, in their order, on a thread of its own,
 * {@code syncguard-leader-<name>-events}: a listener that blocks delays those behind it, and neither heartbeats nor the moment
 * at which {@link LeaderMember#isLeader} turns false. So they may come late: ask {@link LeaderMember#isLeader} before each step
 * that only a leader may take. A leader that steps down on purpose waits with the release until {@link #revoked} has returned
 * everywhere, for the shutdown timeout at most. When a hundred news wait, further rotations are left out. What a listener
 * throws is logged and changes nothing.
 */
public interface LeaderListener {

    /** The member has joined its election, and campaigns or will do so when the application runs. */
    default void joined(LeaderMember member) {}

    /** The member leads. */
    default void elected(LeaderElectedEvent event) {}

    /** The member leads on under a new fence. */
    default void fenceRotated(LeaderFenceRotatedEvent event) {}

    /** The member leads no longer. Follows each {@link #elected}, once. */
    default void revoked(LeaderRevokedEvent event) {}
}
