/**
 * The PostgreSQL backend: one server function per operation, on connections of its own.
 *
 * <p>Depends on the engine's {@link io.syncguard.core.LockBackend} contract.
 */
@NullMarked
package io.syncguard.postgres;

import org.jspecify.annotations.NullMarked;
