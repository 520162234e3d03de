/** Many callers in one or several processes wait for few keys. Some are interrupted, paused or killed. */
package io.syncguard.verification.queue;
