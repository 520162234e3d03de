package io.syncguard.web;

import io.syncguard.Fence;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The header with the fence of a lock: a decimal number of at most 15 digits. */
final class FenceHeader {

    /** One name for all services, so that sender and receiver need no common setting. */
    static final String NAME = "Syncguard-Fence";

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

    private FenceHeader() {}

    /**
     * Reads the fence of a request.
     *
     * @param values all values of the header; {@code null} or empty without the header
     * @return {@code null} without the header
     * @param now when the request arrived
     * @throws FenceHeaderException if the value is no fence or one that no store can have granted yet, or if there are
     *     several
     */
    static @Nullable Fence read(String @Nullable [] values, Instant now) {
        if (values == null || values.length == 0) {
            return null;
        }
        if (values.length > 1) {
            throw new FenceHeaderException("The request has more than one header " + NAME + ". Send one");
        }
        long value = NUMBER.matcher(values[0]).matches() ? Long.parseLong(values[0]) : 0;
        if (value < 1 || value > Fence.MAX_VALUE) {
            throw new FenceHeaderException("The header " + NAME + " of the request is no fence. Send the fence of the"
                    + " lock: a number from 1 to " + Fence.MAX_VALUE);
        }
        Fence fence = new Fence(value);
        if (!fence.isPossibleAt(now)) {
            throw new FenceHeaderException("The header " + NAME + " of the request has a fence that no store can have"
                    + " granted yet. Send the fence of the lock; if it is that, correct the clock of its server or of"
                    + " this one");
        }
        return fence;
    }
}
