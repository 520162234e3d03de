package io.syncguard.leader;

import io.syncguard.Fence;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What a term reports, in this order. No method waits for a listener.
 */
interface TermEvents {

    void elected(Fence fence);

    void fenceRotated(Fence fence);

    /** @return done when all listeners have returned */
    CompletableFuture<Void> revoked(Fence fence, LeaderRevocation reason);

    /** The thread on which a listener runs now; {@code null} if none runs. */
    default @Nullable Thread listening() {
        return null;
    }
}
