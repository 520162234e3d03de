/**
 * The Redis backend: one Lua script per operation, on connections of its own.
 *
 * <p>Depends on the engine's {@link io.syncguard.core.LockBackend} contract.
 */
@NullMarked
package io.syncguard.redis;

import org.jspecify.annotations.NullMarked;
