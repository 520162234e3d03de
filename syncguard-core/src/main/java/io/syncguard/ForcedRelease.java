package io.syncguard;

import org.jspecify.annotations.Nullable;

/**
 * What a {@linkplain LockAdmin#forceRelease forced release} did. Immutable.
 *
 * @param key the normalised key
 * @param released how many live leases it has ended
 * @param remaining how many it could not end within half a second, because a transaction commits under them: try again
 * @param fence larger than the fences of the leases that have ended; {@code null} if there were none. Pass it to a
 *     {@code FenceGuard}, and their work is refused before somebody else is granted the key
 */
public record ForcedRelease(
        String key, int released, int remaining, @Nullable Fence fence) {}
