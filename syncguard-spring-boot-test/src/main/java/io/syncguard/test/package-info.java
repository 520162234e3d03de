/**
 * Tests of applications: {@link io.syncguard.test.LockTestControl} ends leases, refuses and fails acquire requests of the
 * in-memory backend, and {@link io.syncguard.test.LockAssertions} checks who holds and held what.
 */
@NullMarked
package io.syncguard.test;

import org.jspecify.annotations.NullMarked;
