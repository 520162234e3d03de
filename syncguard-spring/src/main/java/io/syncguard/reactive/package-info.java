/**
 * Locks for results that Reactor delivers later. Each subscription acquires its lock, and releases it when it ends. No
 * thread of the subscriber waits for a lock.
 *
 * <p>Depends on the API and on Reactor.
 */
@NullMarked
package io.syncguard.reactive;

import org.jspecify.annotations.NullMarked;
