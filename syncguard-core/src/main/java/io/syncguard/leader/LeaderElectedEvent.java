package io.syncguard.leader;

import io.syncguard.Fence;

/**
 * This process leads. Spring publishes it, and each {@link LeaderListener} receives it.
 *
 * @param name the election
 * @param owner the label of this process
 * @param fence the fence of the new term: larger than every earlier one
 */
public record LeaderElectedEvent(String name, String owner, Fence fence) {}
