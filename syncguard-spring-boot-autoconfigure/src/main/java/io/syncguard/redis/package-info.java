/**
 * The Redis backend: one Lua script per operation, on connections of its own.
 *
 * <p>Depends on the {@link io.syncguard.spi.LockBackend} contract.
 */
@NullMarked
package io.syncguard.redis;

import org.jspecify.annotations.NullMarked;
