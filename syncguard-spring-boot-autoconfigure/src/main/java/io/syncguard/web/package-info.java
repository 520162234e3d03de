/**
 * Fences over HTTP: a client sends the fence of its lock, a controller receives it. Lock errors are problem details.
 *
 * <p>Depends on the API and Spring's web support.
 */
@NullMarked
package io.syncguard.web;

import org.jspecify.annotations.NullMarked;
