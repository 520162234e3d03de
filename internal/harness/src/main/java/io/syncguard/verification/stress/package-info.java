/**
 * Several processes use locks, and a run disturbs them at random. It records their requests and answers, and a checker
 * judges them.
 *
 * <p>Reading order: {@code StressContract}, {@code StressRun}, {@code StressWorker}.
 */
package io.syncguard.verification.stress;
