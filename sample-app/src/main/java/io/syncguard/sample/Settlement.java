package io.syncguard.sample;

import java.time.Instant;

/**
 * The last booking.
 *
 * @param orders the number of orders that were processed until then
 * @param fence the fence of the leader that booked it; 0 when nothing was booked yet
 */
record Settlement(long orders, long fence, Instant bookedAt) {}
