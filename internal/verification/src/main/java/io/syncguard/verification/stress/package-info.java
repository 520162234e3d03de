/**
 * Several processes use locks and are disturbed at random; their requests and answers are recorded, and a checker
 * judges them.
 *
 * <p>Way to read: {@code StressContract}, {@code StressRun}, {@code StressWorker}.
 */
package io.syncguard.verification.stress;
