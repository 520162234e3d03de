/**
 * From the annotation to the template: {@link io.syncguard.DistributedLock} becomes a {@link io.syncguard.LockRequest}.
 *
 * <p>Depends on the API, {@code io.syncguard.interception}, {@code io.syncguard.reactive} and Spring.
 */
@NullMarked
package io.syncguard.aop;

import org.jspecify.annotations.NullMarked;
