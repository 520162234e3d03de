/**
 * Leadership: one of many processes leads, and each knows when it no longer does.
 *
 * <p>A leader is the holder of an exclusive lock that is kept as long as possible. Everything that decides is the lock engine's;
 * this package only campaigns, and tells. Depends on the API, the clock of the engine and Spring's AOP.
 */
@NullMarked
package io.syncguard.leader;

import org.jspecify.annotations.NullMarked;
