package io.syncguard.actuate;

import io.syncguard.spi.Hashes;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An event of this process.
 *
 * @param number grows with each event of this process
 * @param at by the clock of this process
 * @param type what happened
 * @param name the name of the lock or the election
 * @param key the key, or its hash; {@code null} for an election
 * @param fence of the lease or the term; {@code null} if there is none
 * @param elapsed since the call, or since the grant if there is one; {@code null} for an election
 * @param text the reason, the error or the operator; empty if there is none
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

    /** Texts of errors name keys. */
    EventDescriptor hidden() {
        return new EventDescriptor(
                number,
                at,
                type,
                name,
                key == null ? null : Hashes.shown(key),
                fence,
                elapsed,
                key == null ? text : text.replace(key, Hashes.shown(key)));
    }
}
