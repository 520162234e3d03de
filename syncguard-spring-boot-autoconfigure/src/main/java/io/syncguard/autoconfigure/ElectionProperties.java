package io.syncguard.autoconfigure;

import io.syncguard.leader.LeaderSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code syncguard.leader.elections.<name>.*}.
 *
 * @param ttl How long a leader leads without an extension. From 3 ms to 365 days.
 * @param heartbeat How often the lease of the leader is extended. At most every third of the ttl, which is the
 *     default.
 * @param fenceRotation How often an extension takes the next fence. At most every half of the ttl, a third of it if
 *     not set; 0 turns it off.
 * @param owner Label of this process as a member, for people only. If not set, that of its locks.
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

    LeaderSettings settings() {
        LeaderSettings settings = LeaderSettings.of(ttl);
        settings = heartbeat == null ? settings : settings.heartbeat(heartbeat);
        settings = fenceRotation == null ? settings : settings.fenceRotation(fenceRotation);
        return owner == null ? settings : settings.owner(owner);
    }

    /** The name of the properties of an election, in the notation of Spring Boot for keys of maps. */
    static String nameOf(String election) {
        return "syncguard.leader.elections" + (election.matches("[a-z0-9-]+") ? "." + election : "[" + election + "]");
    }
}
