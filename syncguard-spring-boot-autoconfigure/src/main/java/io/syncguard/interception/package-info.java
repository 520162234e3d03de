/**
 * Annotated methods of beans: finds the annotation, has it parsed once for each method, and runs the body of a call
 * until its result is there. Knows neither locks nor elections; both annotations of the library use it.
 *
 * <p>Depends on the API, the threads of the library and Spring's AOP.
 */
@NullMarked
package io.syncguard.interception;

import org.jspecify.annotations.NullMarked;
