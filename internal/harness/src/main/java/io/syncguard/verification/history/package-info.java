/**
 * The requests of several processes to the store with their answers, and the checker that judges them. The simulated
 * histories test the checker.
 *
 * <p>Reading order: {@code HistoryEvent}, {@code History}, {@code HistoryChecker}.
 */
package io.syncguard.verification.history;
