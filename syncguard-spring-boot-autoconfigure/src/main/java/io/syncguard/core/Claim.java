package io.syncguard.core;

import java.time.Duration;

/**
 * What a client puts before the server to be granted a key.
 *
 * @param key the normalised key
 * @param lockId the secret that the grant will carry, made for this acquisition alone
 * @param ttl how long the grant lives without an extension
 * @param owner a label for people
 */
public record Claim(String key, String lockId, Duration ttl, String owner) {

    /** Without the lock id. */
    @Override
    public String toString() {
        return "claim to '" + key + "', ttl " + ttl + ", owner " + owner;
    }
}
