/**
 * From the annotation to the template: {@link io.syncguard.DistributedLock} becomes a {@link io.syncguard.LockRequest}.
 * Methods with {@link io.syncguard.leader.LeaderOnly} run while this process leads.
 *
 * <p>Depends on the API, {@code io.syncguard.interception}, {@code io.syncguard.leader}, {@code io.syncguard.reactive},
 * {@code io.syncguard.scheduling} and Spring.
 */
@NullMarked
package io.syncguard.aop;

import org.jspecify.annotations.NullMarked;
