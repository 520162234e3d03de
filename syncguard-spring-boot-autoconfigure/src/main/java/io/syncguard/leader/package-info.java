/**
 * Leadership: one of many processes leads, and the leader knows when its leadership ends.
 *
 * <p>A leader is the holder of an exclusive lock that is kept as long as possible. The lock engine decides who holds
 * it; this package campaigns for it, runs terms and dispatches their events. Depends on the API, the room of threads
 * and time, the room of annotated methods, and Spring's AOP.
 */
@NullMarked
package io.syncguard.leader;

import org.jspecify.annotations.NullMarked;
