/**
 * Connects locks to the transactions of the application. A lock is released after the end of a transaction, and a
 * transaction commits only while its locks are held.
 *
 * <p>Depends on the API, the engine, {@link io.syncguard.spi.LeasePins} and Spring's transactions.
 */
@NullMarked
package io.syncguard.transaction;

import org.jspecify.annotations.NullMarked;
