/**
 * The engine: waiting, heartbeats, handles, and the {@link io.syncguard.core.LockBackend} contract that a store fulfils.
 *
 * <p>Depends on the API.
 */
@NullMarked
package io.syncguard.core;

import org.jspecify.annotations.NullMarked;
