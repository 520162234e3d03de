package io.syncguard.aop;

import io.syncguard.LockSettings;
import java.time.Duration;
import java.util.Map;

/**
 * Defaults of calls whose annotation sets no value, and settings that override annotations.
 *
 * @param waitTime how long a call waits for all its locks together
 * @param maxKeys how many keys a call may lock
 * @param ttl how long a lock lives without an extension
 * @param locks the settings by lock name, which override the annotations of that name
 */
public record CallLimits(Duration waitTime, int maxKeys, Duration ttl, Map<String, LockSettings> locks) {}
