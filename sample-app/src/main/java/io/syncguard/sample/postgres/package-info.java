/**
 * The PostgreSQL that comes with the sample. Nothing here shows how to use locks, and an application with a database needs
 * none of it.
 */
@NullMarked
package io.syncguard.sample.postgres;

import org.jspecify.annotations.NullMarked;
