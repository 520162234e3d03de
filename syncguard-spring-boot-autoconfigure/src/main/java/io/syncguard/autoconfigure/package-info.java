/**
 * Puts the library together in a Spring Boot application.
 *
 * <p>Sees every other package, and none sees it.
 */
@NullMarked
package io.syncguard.autoconfigure;

import org.jspecify.annotations.NullMarked;
