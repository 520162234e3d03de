/**
 * Wires the library in a Spring Boot application.
 *
 * <p>Depends on every other package; none depends on it.
 */
@NullMarked
package io.syncguard.autoconfigure;

import org.jspecify.annotations.NullMarked;
