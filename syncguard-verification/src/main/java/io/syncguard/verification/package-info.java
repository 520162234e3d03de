/**
 * Several processes work and are disturbed at random; what they were told is written down and judged by a checker.
 *
 * <p>Way to read: {@code StressContract}, {@code StressRun}, {@code StressWorker}, {@code HistoryEvent},
 * {@code HistoryChecker}.
 */
package io.syncguard.verification;
