package io.syncguard;

/**
 * A live lease of an {@linkplain LockAdmin#leasesOf owner}. Immutable.
 *
 * @param key the normalised key
 */
public record OwnedLease(String key, LockInfo lease) {}
