/** Many callers wait for few keys, in one process or several, of which some are interrupted, paused or killed. */
package io.syncguard.verification.queue;
