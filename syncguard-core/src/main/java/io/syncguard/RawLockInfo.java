package io.syncguard;

import java.time.Instant;

/**
 * What the server knows of one live lease, with the key and the lock id as they are: for debugging by hand. Whoever has
 * the lock id may release the lock, so do not show it and do not log it; {@link LockInfo} is made for that. Immutable.
 *
 * @param key the normalised key
 * @param lockId the secret of the lease
 * @param mode whether the lease excludes others of the key
 * @param acquiredAt when the grant was made, on the server's clock; an extension does not change it
 * @param expiresAt when the lease ends without an extension, on the server's clock
 * @param fence the number of the grant
 * @param owner the label of the holder
 */
public record RawLockInfo(
        String key, String lockId, LockMode mode, Instant acquiredAt, Instant expiresAt, Fence fence, String owner) {

    public RawLockInfo {
        owner = MessageText.shortened(owner);
    }

    /** Leaves the lock id out. */
    @Override
    public String toString() {
        return OneLine.of("lock '" + key + "', " + mode + ", fence " + fence + ", owner '" + owner + "', from "
                + acquiredAt + " to " + expiresAt);
    }
}
