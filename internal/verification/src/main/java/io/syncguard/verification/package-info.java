/**
 * The library under faults, in several processes. Each kind of run has a package; here is what several of them use.
 *
 * <p>{@code history} and {@code bugs} know no other package, and {@code recording} only {@code history}. The kinds of
 * runs are {@code stress}, {@code queue}, {@code wakeups}, {@code commits}, {@code leadership} and {@code matrix};
 * {@code planted} runs three of them. No package depends on one that depends on it.
 */
package io.syncguard.verification;
