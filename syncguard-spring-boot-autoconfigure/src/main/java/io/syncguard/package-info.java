/**
 * What an application imports: the annotation, the template, the manager and their words.
 *
 * <p>Depends on the JDK and JSpecify alone; one annotation has a Spring annotation, which the JVM leaves out without Spring.
 */
@NullMarked
package io.syncguard;

import org.jspecify.annotations.NullMarked;
