/**
 * The in-memory backend: a map and a lock around the {@linkplain io.syncguard.rules rules of a key}, for tests. It is
 * no store for an application: other processes do not see its locks, and a restart forgets them.
 *
 * <p>{@link io.syncguard.memory.InMemoryStore} is in the place of a server: several
 * {@link io.syncguard.memory.InMemoryLockBackend backends} may share one, as processes share a database. The module
 * {@code syncguard-spring-boot-test} alone turns it on in applications.
 */
@NullMarked
package io.syncguard.memory;

import org.jspecify.annotations.NullMarked;
