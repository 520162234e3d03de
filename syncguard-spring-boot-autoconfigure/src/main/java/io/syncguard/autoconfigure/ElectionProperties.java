package io.syncguard.autoconfigure;

import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.leader.LeaderSettings;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code syncguard.leader.elections.<name>.*}.
 *
 * @param ttl How long a leader leads without an extension. From 3 ms to 365 days.
 * @param heartbeat Interval between extensions of the leader's lease. At most a third of the ttl, which is the default.
 * @param fenceRotation Interval between extensions that take the next fence. At most half of the ttl, a third of it if
 *     not set; 0 turns it off.
 * @param owner Label of this process as a member; it decides nothing. If not set, the label of its locks.
 * @param autoStartup Whether this process joins the election at the start. Otherwise the application joins it.
 * @param lockManager Name or qualifier of the lock manager, if there are two backends. The primary one if not set.
 */
record ElectionProperties(
        @DefaultValue("15s") Duration ttl,
        @Nullable Duration heartbeat,
        @Nullable Duration fenceRotation,
        @Nullable String owner,
        @DefaultValue("true") boolean autoStartup,
        @Nullable String lockManager) {

    /**
     * @param election the name of the election
     * @throws LockSetupException if a value is impossible; names the property
     */
    LeaderSettings settings(String election) {
        String property = nameOf(election);
        LeaderSettings settings = valid(property + ".ttl", ttl, LeaderSettings::of);
        settings = valid(property + ".heartbeat", heartbeat, settings, LeaderSettings::heartbeat);
        settings = valid(property + ".fence-rotation", fenceRotation, settings, LeaderSettings::fenceRotation);
        return valid(property + ".owner", owner, settings, LeaderSettings::owner);
    }

    /** The name of the properties of an election, in the notation of Spring Boot for keys of maps. */
    static String nameOf(String election) {
        return "syncguard.leader.elections" + (election.matches("[a-z0-9-]+") ? "." + election : "[" + election + "]");
    }

    private static <T> LeaderSettings valid(
            String property,
            @Nullable T value,
            LeaderSettings settings,
            BiFunction<LeaderSettings, T, LeaderSettings> setter) {
        return value == null ? settings : valid(property, value, given -> setter.apply(settings, given));
    }

    private static <T> LeaderSettings valid(String property, T value, Function<T, LeaderSettings> setter) {
        try {
            return setter.apply(value);
        } catch (LockException ex) {
            // The message begins with the name of the value.
            String mistake = String.valueOf(ex.getMessage());
            throw value instanceof Duration
                    ? LockSetupException.invalid(
                            property + mistake.substring(mistake.indexOf(" is ")), "Correct " + property)
                    : LockSetupException.at(property, ex);
        }
    }
}
