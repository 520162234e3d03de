/**
 * The transactions of the application: locks are released after their end, and they commit only while their locks are
 * held.
 *
 * <p>Depends on the API, the engine, {@link io.syncguard.spi.LeasePins} and Spring's transactions.
 */
@NullMarked
package io.syncguard.transaction;

import org.jspecify.annotations.NullMarked;
