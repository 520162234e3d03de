package io.syncguard.core;

import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;

/**
 * One key of an acquisition.
 *
 * @param sent the request of a single attempt
 */
record KeyAttempt(LockRequest request, AcquireRequest sent) {

    String key() {
        return request.key();
    }
}
