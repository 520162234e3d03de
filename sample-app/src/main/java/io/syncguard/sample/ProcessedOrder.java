package io.syncguard.sample;

import java.time.Instant;

/**
 * An order that was charged.
 *
 * @param fence the fence of the lock under which it was charged
 */
record ProcessedOrder(long orderId, long fence, Instant processedAt) {}
