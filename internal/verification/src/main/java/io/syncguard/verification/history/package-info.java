/**
 * What several processes requested from the store, and were answered, and the checker that judges it. The simulated
 * histories are for its tests.
 *
 * <p>Way to read: {@code HistoryEvent}, {@code History}, {@code HistoryChecker}.
 */
package io.syncguard.verification.history;
