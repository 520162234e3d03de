/**
 * The transactions of the application: locks are released after their end, and they commit only while their locks are
 * held.
 */
@NullMarked
package io.syncguard.transaction;

import org.jspecify.annotations.NullMarked;
