package io.syncguard.leader;

import io.syncguard.Fence;

/**
 * This process leads no longer. Published as a Spring event and told to each {@link LeaderListener}.
 *
 * @param name the election
 * @param owner the label of this process
 * @param fence the last one of the term
 * @param reason why
 */
public record LeaderRevokedEvent(String name, String owner, Fence fence, LeaderRevocation reason) {}
