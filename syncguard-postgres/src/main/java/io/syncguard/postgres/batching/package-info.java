/** Lets requests of many threads share statements. Not for applications. */
@NullMarked
package io.syncguard.postgres.batching;

import org.jspecify.annotations.NullMarked;
