/** Guarded commits of several processes that are paused anywhere, and what must hold for their effects. */
package io.syncguard.verification.commits;
