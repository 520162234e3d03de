/** Processes whose waiters depend on wake-ups alone, because the safety poll comes too late. */
package io.syncguard.verification.wakeups;
