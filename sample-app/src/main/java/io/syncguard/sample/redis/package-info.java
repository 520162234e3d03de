/**
 * The Redis that comes with the sample. Nothing here shows how to use locks, and an application with a Redis needs none of it.
 */
@NullMarked
package io.syncguard.sample.redis;

import org.jspecify.annotations.NullMarked;
