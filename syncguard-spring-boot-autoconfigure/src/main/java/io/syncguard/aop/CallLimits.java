package io.syncguard.aop;

import java.time.Duration;

/**
 * What holds for a call whose annotation does not say otherwise.
 *
 * @param waitTime how long it waits for all its locks together
 * @param maxKeys how many keys it may lock
 */
public record CallLimits(Duration waitTime, int maxKeys) {}
