/**
 * The actuator: the endpoint {@code syncguard} and the health of the locks.
 *
 * <p>Depends on the API, the engine and the elections, and on Spring Boot's actuator.
 */
@NullMarked
package io.syncguard.actuate;

import org.jspecify.annotations.NullMarked;
