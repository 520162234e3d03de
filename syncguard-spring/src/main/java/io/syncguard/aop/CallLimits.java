package io.syncguard.aop;

import io.syncguard.LockSettings;
import java.time.Duration;
import java.util.Map;

/**
 * What holds for a call whose annotation does not say otherwise, and what replaces parts of an annotation.
 *
 * @param waitTime how long it waits for all its locks together
 * @param maxKeys how many keys it may lock
 * @param ttl how long a lock lives without an extension
 * @param locks what replaces parts of the annotations of a name
 */
public record CallLimits(Duration waitTime, int maxKeys, Duration ttl, Map<String, LockSettings> locks) {}
