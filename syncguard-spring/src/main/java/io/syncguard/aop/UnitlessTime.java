package io.syncguard.aop;

import io.syncguard.LockSetupException;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Refuses a time below one second that has no unit. Spring Boot counts milliseconds, but many people mean seconds.
 */
public final class UnitlessTime {

    private static final Pattern LESS_THAN_A_SECOND = Pattern.compile("\\+?0*([1-9]\\d{0,2})");

    private UnitlessTime() {}

    /**
     * @param what names the value, such as {@code syncguard.ttl}
     * @param text a time in any style
     * @throws LockSetupException when it is a number below 1000 and not zero
     */
    public static void refuse(String what, String text) {
        var number = LESS_THAN_A_SECOND.matcher(text.strip());
        if (number.matches()) {
            String digits = number.group(1);
            throw LockSetupException.invalid(
                    what + " is " + digits + " without a unit", "Write " + digits + "s or " + digits + "ms");
        }
    }

    /** Parses a time, and refuses one below a second that has no unit. */
    static Duration parse(String text) {
        refuse("it", text);
        return DurationText.parse(text);
    }
}
