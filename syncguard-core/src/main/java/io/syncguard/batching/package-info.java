/**
 * Lets requests of many threads share lists, in front of the verbs of a store. Not for applications.
 */
@NullMarked
package io.syncguard.batching;

import org.jspecify.annotations.NullMarked;
