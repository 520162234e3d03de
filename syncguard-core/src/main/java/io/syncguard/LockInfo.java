package io.syncguard;

import java.time.Instant;

/**
 * What the server knows of one live lease, for diagnostics. Not a guard: the lease may be over when the
 * answer arrives.
 *
 * <p>Key and lock id appear as the first 12 bytes of their SHA-256 in 24 hexadecimal digits, so they can be shown and
 * logged. Immutable.
 *
 * @param keyHash hash of the normalised key
 * @param lockIdHash hash of the lock id
 * @param mode whether the lease excludes others of the key
 * @param acquiredAt when the grant was made, on the server's clock; an extension does not change it
 * @param expiresAt when the lease ends without an extension, on the server's clock
 * @param fence the number of the grant
 * @param owner the label of the holder
 */
public record LockInfo(
        String keyHash,
        String lockIdHash,
        LockMode mode,
        Instant acquiredAt,
        Instant expiresAt,
        Fence fence,
        String owner) {

    public LockInfo {
        owner = MessageText.shortened(owner);
    }
}
