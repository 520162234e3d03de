package io.syncguard.rules;

import io.syncguard.spi.AcquireResult;
import org.jspecify.annotations.Nullable;

/**
 * The message that makes a waiter look again, or that carries its grant.
 *
 * @param channel where the waiter's process receives messages
 * @param waiterNumber the number of the waiter, from its last request
 * @param handOver the grant that a release made to the waiter; {@code null} if the waiter has to look
 */
public record WakeUp(String channel, long waiterNumber, AcquireResult.@Nullable Granted handOver) {}
