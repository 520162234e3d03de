/** Records the requests and answers of a process, and what the store has in the end, as a history. */
package io.syncguard.verification.recording;
