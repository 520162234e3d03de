package io.syncguard.actuate;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An event of this process.
 *
 * @param number grows with each event of this process
 * @param at the time of the event, by the clock of this process
 * @param type what happened
 * @param name the name of the lock or the election
 * @param key the key, or its hash; {@code null} for an election
 * @param fence the fence of the lease or the term; {@code null} if there is none
 * @param elapsed the time since the call, or since the grant if there is one; {@code null} for an election
 * @param text what happened, then the error or the reason of an operator if keys are shown; empty if there is none
 */
public record EventDescriptor(
        long number,
        Instant at,
        EventType type,
        String name,
        @Nullable String key,
        @Nullable Long fence,
        @Nullable Duration elapsed,
        String text) {

    /**
     * Hides the key and the details of the text. Errors and reasons of operators may contain keys, in several
     * spellings.
     */
    EventDescriptor hidden(KeyView view) {
        return new EventDescriptor(
                number, at, type, name, key == null ? null : view.show(key), fence, elapsed, withoutDetails());
    }

    private String withoutDetails() {
        return switch (type) {
            case FAILED -> until(": ");
            case FORCE_RELEASED, NOT_HELD -> until("; ");
            default -> text;
        };
    }

    private String until(String end) {
        int found = text.indexOf(end);
        return found < 0 ? text : text.substring(0, found);
    }
}
