package io.syncguard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@linkplain LockAdmin#forceRelease forced release} did. Immutable.
 *
 * @param key the normalised key
 * @param released the live leases that it has ended
 * @param remaining the live leases that it left, in the order of their fences: those under which a transaction commits,
 *     and beside a named grant all others. A caller that named a grant and finds {@code released} empty reads here who
 *     holds the key now
 * @param fence larger than the fences of the leases that have ended; {@code null} if there were none. Pass it to a
 *     {@code FenceGuard}, and their work is refused before somebody else is granted the key
 */
public record ForcedRelease(
        String key,
        List<LockInfo> released,
        List<LockInfo> remaining,
        @Nullable Fence fence) {

    public ForcedRelease {
        released = List.copyOf(released);
        remaining = List.copyOf(remaining);
    }

    /** Nobody held the key. */
    public static ForcedRelease ofFreeKey(String key) {
        return new ForcedRelease(key, List.of(), List.of(), null);
    }
}
