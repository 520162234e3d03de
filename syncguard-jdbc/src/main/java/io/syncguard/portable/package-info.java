/**
 * A store in the tables of any database that locks rows. The server keeps the rows and locks them; the
 * {@linkplain io.syncguard.rules rules of a key} run here, under that lock. A {@link io.syncguard.portable.Dialect}
 * says what a database has of its own.
 */
@NullMarked
package io.syncguard.portable;

import org.jspecify.annotations.NullMarked;
