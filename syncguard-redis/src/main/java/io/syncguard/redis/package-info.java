/**
 * The Redis backend: one Lua script per operation, on separate connections.
 *
 * <p>Implements the SPI, {@link io.syncguard.spi.LockBackend}.
 */
@NullMarked
package io.syncguard.redis;

import org.jspecify.annotations.NullMarked;
