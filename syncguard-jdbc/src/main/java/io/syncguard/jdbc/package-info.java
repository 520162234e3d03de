/**
 * What a store in any database needs: connections of its own, made from those of the application, and requests on them
 * with time limits that an interrupt ends. Knows no database; a {@link io.syncguard.jdbc.JdbcDatabase} says what one
 * needs.
 */
@NullMarked
package io.syncguard.jdbc;

import org.jspecify.annotations.NullMarked;
