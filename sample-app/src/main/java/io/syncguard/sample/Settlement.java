package io.syncguard.sample;

import java.time.Instant;

/**
 * What was booked last.
 *
 * @param orders how many were processed until then
 * @param fence that of the leader who booked it; 0 when nothing was booked yet
 */
record Settlement(long orders, long fence, Instant bookedAt) {}
