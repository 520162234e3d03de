/**
 * Annotated methods of beans. Finds the annotation, parses it once for each method, and runs the body of a call until
 * its result is complete. Both annotations of the library use it; it depends on neither locks nor elections.
 *
 * <p>Depends on the API, {@code io.syncguard.concurrent} and Spring's AOP.
 */
@NullMarked
package io.syncguard.interception;

import org.jspecify.annotations.NullMarked;
