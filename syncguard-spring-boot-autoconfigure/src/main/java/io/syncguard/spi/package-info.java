/**
 * What a store implements, and what it answers: requests, results, and whom it wakes. Depends on the API and on
 * {@code io.syncguard.concurrent}.
 */
@NullMarked
package io.syncguard.spi;

import org.jspecify.annotations.NullMarked;
