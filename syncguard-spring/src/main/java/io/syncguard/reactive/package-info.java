/**
 * Locks for results that Reactor delivers later. Each subscription acquires its lock, and releases it when it ends, or
 * when the reactive transaction around it has ended. No thread of the subscriber waits for a lock.
 *
 * <p>Depends on the API, on Reactor and on Spring's transactions if they are there.
 */
@NullMarked
package io.syncguard.reactive;

import org.jspecify.annotations.NullMarked;
