/**
 * What an application imports: the annotation, the template, the manager and their words.
 *
 * <p>Depends on the JDK and JSpecify alone.
 */
@NullMarked
package io.syncguard;

import org.jspecify.annotations.NullMarked;
