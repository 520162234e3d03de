/**
 * Tests the library under faults, in several processes. Each kind of run has a package; this one has the classes that
 * several of them share.
 *
 * <p>{@code history} and {@code bugs} depend on no other package, {@code recording} only on {@code history}. The kinds
 * of runs are {@code stress}, {@code queue}, {@code wakeups}, {@code commits}, {@code leadership} and {@code matrix};
 * {@code planted} runs three of them. There are no cycles.
 */
package io.syncguard.verification;
