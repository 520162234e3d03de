/** Permits under kills, counted by a server that knows nothing of the library. */
package io.syncguard.verification.permits;
