/**
 * Locks for results that Reactor delivers later: acquired for each subscription, released when it ends. No thread of
 * the subscriber waits for a lock.
 *
 * <p>Depends on the API and on Reactor.
 */
@NullMarked
package io.syncguard.reactive;

import org.jspecify.annotations.NullMarked;
