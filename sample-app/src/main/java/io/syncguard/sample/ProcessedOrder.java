package io.syncguard.sample;

import java.time.Instant;

/**
 * An order that was charged.
 *
 * @param fence the number of the grant under which it was charged
 */
record ProcessedOrder(long orderId, long fence, Instant processedAt) {}
