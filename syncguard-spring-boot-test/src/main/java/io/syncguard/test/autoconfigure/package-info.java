/** Turns the in-memory backend on in tests. */
@NullMarked
package io.syncguard.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
