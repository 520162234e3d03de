package io.syncguard.leader;

import io.syncguard.Fence;

/**
 * The term of this process has ended. Spring publishes it, and each {@link LeaderListener} receives it.
 *
 * @param name the election
 * @param owner the label of this process
 * @param fence the last fence of the term
 * @param reason why the term has ended
 */
public record LeaderRevokedEvent(String name, String owner, Fence fence, LeaderRevocation reason) {}
