package io.syncguard.core;

import io.syncguard.LockErrorCode;
import java.time.Duration;

/**
 * What this process knows of a store that does not answer. Immutable.
 *
 * @param elapsed since the first request failed after the last answer
 * @param failures how many requests have failed since then
 * @param code of the last failure
 * @param message of the last failure; it may name a key
 */
public record StoreOutage(Duration elapsed, int failures, LockErrorCode code, String message) {

    StoreOutage withoutMessage() {
        return new StoreOutage(elapsed, failures, code, "");
    }
}
