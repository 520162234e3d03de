/**
 * The SPI: what a backend implements, with its requests, results and wake-ups. Depends on the API and on
 * {@code io.syncguard.concurrent}.
 */
@NullMarked
package io.syncguard.spi;

import org.jspecify.annotations.NullMarked;
