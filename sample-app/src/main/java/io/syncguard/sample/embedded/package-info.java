/**
 * The servers that come with the sample. Nothing here shows how to use locks, and an application with servers of its
 * own needs none of it.
 */
@NullMarked
package io.syncguard.sample.embedded;

import org.jspecify.annotations.NullMarked;
