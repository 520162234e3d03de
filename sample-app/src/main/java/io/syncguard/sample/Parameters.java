package io.syncguard.sample;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Checks the parameters of requests, before any lock is requested.
 */
final class Parameters {

    private Parameters() {}

    /** Returns the value, or answers with a 400 that names the parameter and its limits. */
    static int between(int min, int max, String name, int value) {
        if (value < min || value > max) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "'" + name + "' has to be between " + min + " and " + max + ", but is " + value + ".");
        }
        return value;
    }
}
