package io.syncguard.leader;

import io.syncguard.Fence;

/**
 * This process leads on under a new fence. Spring publishes it, and each {@link LeaderListener} receives it.
 *
 * @param name the election
 * @param owner the label of this process
 * @param fence the new fence
 */
public record LeaderFenceRotatedEvent(String name, String owner, Fence fence) {}
