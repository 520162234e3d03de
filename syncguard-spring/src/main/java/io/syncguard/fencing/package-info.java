/**
 * Fencing: a database refuses the writes of a holder that lost its lock.
 *
 * <p>Depends on the API, and on Spring's transactions and JDBC.
 */
@NullMarked
package io.syncguard.fencing;

import org.jspecify.annotations.NullMarked;
