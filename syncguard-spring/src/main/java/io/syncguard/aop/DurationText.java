package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.OneLine;
import java.time.Duration;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Parses durations in annotations. */
final class DurationText {

    private DurationText() {}

    /** @throws LockSetupException when the text is not a duration */
    static Duration parse(String text) {
        try {
            return DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException | ArithmeticException ex) {
            throw LockSetupException.invalid(
                    "'" + OneLine.of(text) + "' is not a duration", "Write 30s, 500ms, 5m or PT30S");
        }
    }
}
