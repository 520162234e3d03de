/**
 * Meters, where the application has a registry for them.
 *
 * <p>Depends on the API and Micrometer.
 */
@NullMarked
package io.syncguard.micrometer;

import org.jspecify.annotations.NullMarked;
