/**
 * The engine: waiting, heartbeats, deadlines, handles.
 *
 * <p>Depends on the API, on {@code io.syncguard.spi} and on {@code io.syncguard.concurrent}.
 */
@NullMarked
package io.syncguard.core;

import org.jspecify.annotations.NullMarked;
