/**
 * The PostgreSQL backend: one server function per operation, on connections of its own.
 *
 * <p>Depends on the {@link io.syncguard.spi.LockBackend} contract.
 */
@NullMarked
package io.syncguard.postgres;

import org.jspecify.annotations.NullMarked;
