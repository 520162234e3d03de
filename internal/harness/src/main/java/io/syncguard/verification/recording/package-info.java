/** Records the requests and answers of a process, and the final contents of the store, as a history. */
package io.syncguard.verification.recording;
