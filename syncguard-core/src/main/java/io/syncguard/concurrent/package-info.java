/**
 * Time, threads and interrupts, as the engine, the backends and leadership use them. Depends on the API alone.
 */
@NullMarked
package io.syncguard.concurrent;

import org.jspecify.annotations.NullMarked;
