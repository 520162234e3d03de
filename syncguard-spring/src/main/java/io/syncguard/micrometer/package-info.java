/**
 * Meters and observations, if the application has a registry for them.
 *
 * <p>Depends on the API, the engine, the elections and Micrometer.
 */
@NullMarked
package io.syncguard.micrometer;

import org.jspecify.annotations.NullMarked;
