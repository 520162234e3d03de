/**
 * Leadership: one of many processes leads, and the leader knows when its leadership ends.
 *
 * <p>A leader holds an exclusive lock for as long as it can. The lock engine decides who holds the lock; this package
 * campaigns for it, runs terms and dispatches their events. Depends on the API and on {@code io.syncguard.concurrent}.
 */
@NullMarked
package io.syncguard.leader;

import org.jspecify.annotations.NullMarked;
