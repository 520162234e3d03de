package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a caller of this process holds or waits for. The store knows neither its name nor its thread. Immutable.
 *
 * @param request what the caller asked for
 * @param owner the label under which the store has it
 * @param thread the one that waits, or the one that acquired the lock
 * @param traceId of the acquisition; {@code null} if it is not traced, and once there is a grant
 * @param fence of the lease; {@code null} while the caller waits
 * @param timeLeft until the lease ends unless it is extended; {@code null} while the caller waits
 * @param elapsed since the caller got its queue entry; since the grant once there is one
 */
public record LocalLock(
        LockRequest request,
        String owner,
        Thread thread,
        @Nullable String traceId,
        @Nullable Fence fence,
        @Nullable Duration timeLeft,
        Duration elapsed) {

    /** Whether it is held, not waited for. */
    public boolean isHeld() {
        return fence != null;
    }
}
