/**
 * The model of the lock protocol in {@code src/test/model}, checked by Spin, and histories of the store replayed on it.
 */
@NullMarked
package io.syncguard.verification.model;

import org.jspecify.annotations.NullMarked;
