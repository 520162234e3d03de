package io.syncguard.web;

import io.syncguard.Fence;
import io.syncguard.LockSetupException;
import io.syncguard.OneLine;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The header with the fence of a lock: a decimal number of at most 15 digits.
 *
 * @param name the name of the header
 */
public record FenceHeader(String name) {

    /** The default of {@code syncguard.fencing.header}. */
    public static final String DEFAULT_NAME = "Syncguard-Fence";

    /** What HTTP calls a token. */
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

    public FenceHeader {
        if (!NAME.matcher(name).matches()) {
            throw LockSetupException.invalid(
                    "syncguard.fencing.header is '" + OneLine.of(name)
                            + "', but has to be the name of an HTTP header: letters, digits and hyphens",
                    "Choose another name in syncguard.fencing.header");
        }
    }

    /**
     * Reads the fence of a request.
     *
     * @param values all values of the header; {@code null} or empty without the header
     * @return {@code null} without the header
     * @param now when the request arrived
     * @throws FenceHeaderException if the value is no fence or one that no store can have granted yet, or if there are
     *     several
     */
    @Nullable
    Fence read(String @Nullable [] values, Instant now) {
        if (values == null || values.length == 0) {
            return null;
        }
        if (values.length > 1) {
            throw new FenceHeaderException("The request has more than one header " + name + ". Send one");
        }
        long value = NUMBER.matcher(values[0]).matches() ? Long.parseLong(values[0]) : 0;
        if (value < 1 || value > Fence.MAX_VALUE) {
            throw new FenceHeaderException("The header " + name + " of the request is no fence. Send the fence of the"
                    + " lock: a number from 1 to " + Fence.MAX_VALUE);
        }
        Fence fence = new Fence(value);
        if (!fence.isPossibleAt(now)) {
            throw new FenceHeaderException("The header " + name + " of the request has a fence that no store can have"
                    + " granted yet. Send the fence of the lock; if it is that, correct the clock of its server or of"
                    + " this one");
        }
        return fence;
    }
}
