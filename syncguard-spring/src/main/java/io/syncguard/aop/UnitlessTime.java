package io.syncguard.aop;

import java.time.Duration;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Warns of a time below one second that has no unit. It counts milliseconds, as everywhere in Spring Boot, but many
 * people mean seconds.
 */
public final class UnitlessTime {

    private static final Log log = LogFactory.getLog(UnitlessTime.class);

    private static final Pattern LESS_THAN_A_SECOND = Pattern.compile("\\+?0*([1-9]\\d{0,2})");

    private UnitlessTime() {}

    /**
     * @param where the place of the text, such as {@code syncguard.ttl}
     * @param text a time in any style
     */
    public static void warnOf(String where, String text) {
        var number = LESS_THAN_A_SECOND.matcher(text.strip());
        if (number.matches()) {
            String digits = number.group(1);
            log.warn(where + " is " + digits + "ms: a number without a unit counts milliseconds. Write " + digits
                    + "s if it counts seconds, and " + digits + "ms if it does not");
        }
    }

    /** Parses a time, and warns if it has no unit and is below one second. */
    static Duration parse(String where, String text) {
        Duration time = DurationText.parse(text);
        warnOf(where, text);
        return time;
    }
}
