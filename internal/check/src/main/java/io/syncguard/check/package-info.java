/**
 * Tells whether the promises of the library hold on a given server.
 *
 * <p>{@link io.syncguard.check.Check} runs three parts on a {@link io.syncguard.check.Server}: it looks at the
 * settings, runs the contract of a store, and lets processes use locks under faults. A
 * {@link io.syncguard.check.Report} has all {@linkplain io.syncguard.check.Finding findings}.
 */
@NullMarked
package io.syncguard.check;

import org.jspecify.annotations.NullMarked;
