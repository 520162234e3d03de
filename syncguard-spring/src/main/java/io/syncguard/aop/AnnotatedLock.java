package io.syncguard.aop;

import io.syncguard.LockMode;

/**
 * The locks of a method with {@link io.syncguard.DistributedLock}, as far as they are known before a call. Immutable.
 *
 * @param name for meters and settings
 * @param permits how many permits a key has; 0 for none, and if a placeholder is not resolved yet
 * @param manager the name of the manager in the annotation; empty for the primary one
 */
public record AnnotatedLock(String name, LockMode mode, int permits, String manager) {}
