package io.syncguard.sample;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Checks what callers send, before any lock is asked for.
 */
final class Parameters {

    private Parameters() {}

    /** The value, or a 400 that names the parameter and its limits. */
    static int between(int min, int max, String name, int value) {
        if (value < min || value > max) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "'" + name + "' is between " + min + " and " + max + ", not " + value + ".");
        }
        return value;
    }
}
