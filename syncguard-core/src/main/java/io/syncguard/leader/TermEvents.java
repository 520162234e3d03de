package io.syncguard.leader;

import io.syncguard.Fence;
import java.util.concurrent.CompletableFuture;

/**
 * What a term reports, in this order. No method waits for a listener.
 */
interface TermEvents {

    void elected(Fence fence);

    void fenceRotated(Fence fence);

    /** @return done when all listeners have returned */
    CompletableFuture<Void> revoked(Fence fence, LeaderRevocation reason);
}
