/**
 * Support for tests of applications. {@link io.syncguard.test.LockTestControl} ends leases of the in-memory backend,
 * and refuses and fails its acquire requests. {@link io.syncguard.test.LockAssertions} checks who holds or held which
 * lock.
 */
@NullMarked
package io.syncguard.test;

import org.jspecify.annotations.NullMarked;
