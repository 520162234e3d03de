/**
 * Turns {@link io.syncguard.DistributedLock} into a {@link io.syncguard.LockRequest}, and runs the method under its
 * lock. Runs methods with {@link io.syncguard.leader.LeaderOnly} while this process leads.
 *
 * <p>Depends on the API, {@code io.syncguard.interception}, {@code io.syncguard.leader}, {@code io.syncguard.reactive},
 * {@code io.syncguard.scheduling} and Spring.
 */
@NullMarked
package io.syncguard.aop;

import org.jspecify.annotations.NullMarked;
