package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.springframework.beans.factory.ListableBeanFactory;

/** Adds a script of the library to the locations of the application's Flyway. */
final class FlywayLocations {

    private FlywayLocations() {}

    /** Whether there is a Flyway that runs the scripts. */
    static boolean areUsedIn(ListableBeanFactory beans) {
        return beans.containsBean(FlywayScript.CUSTOMIZER_BEAN)
                && beans.getBeanNamesForType(Flyway.class, true, false).length > 0;
    }

    /** @param location the location of the script on the class path */
    static void add(FluentConfiguration configuration, String location, Map<String, String> placeholders) {
        requirePlaceholders(configuration, placeholders);
        Stream<String> locations = Arrays.stream(configuration.getLocations()).map(Object::toString);
        configuration.locations(Stream.concat(locations, Stream.of("classpath:" + location))
                .distinct()
                .toArray(String[]::new));
        Map<String, String> all = new HashMap<>(configuration.getPlaceholders());
        all.putAll(placeholders);
        configuration.placeholders(all);
    }

    private static void requirePlaceholders(FluentConfiguration configuration, Map<String, String> placeholders) {
        if (!configuration.isPlaceholderReplacement()
                || !configuration.getPlaceholderPrefix().equals("${")
                || !configuration.getPlaceholderSuffix().equals("}")) {
            throw LockSetupException.invalid(
                    "Flyway does not replace placeholders such as ${"
                            + placeholders.keySet().iterator().next() + "}, which the script of SyncGuard contains",
                    "Leave out spring.flyway.placeholder-replacement, placeholder-prefix and placeholder-suffix",
                    "Set syncguard.postgres.schema-management and syncguard.fencing.schema-management to initialize");
        }
    }
}
