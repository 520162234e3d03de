package io.syncguard.web;

import io.syncguard.Fence;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The header with the fence of a lock: a decimal number of at most 15 digits.
 *
 * @param name of the header
 */
public record FenceHeader(String name) {

    /** The name unless {@code syncguard.fencing.header} says otherwise. */
    public static final String DEFAULT_NAME = "Syncguard-Fence";

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

    /**
     * The fence of a request.
     *
     * @param values all values of the header; {@code null} or empty without the header
     * @return {@code null} without the header
     * @throws FenceHeaderException when it is no fence, or comes twice
     */
    @Nullable
    Fence read(String @Nullable [] values) {
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
        return new Fence(value);
    }
}
