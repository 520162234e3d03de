package io.syncguard.leader;

import io.syncguard.Fence;

/**
 * This process leads. Published as a Spring event and told to each {@link LeaderListener}.
 *
 * @param name the election
 * @param owner the label of this process
 * @param fence that of the new term: larger than any before it
 */
public record LeaderElectedEvent(String name, String owner, Fence fence) {}
