package io.syncguard.autoconfigure;

import io.syncguard.LockLimits;
import io.syncguard.LockSettings;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code syncguard.locks.*}.
 *
 * @param locks Settings by the names of locks. They beat annotations and code, which beat the settings of all locks. A
 *     name with other characters than letters, digits and dashes needs brackets.
 */
@ConfigurationProperties("syncguard")
record LocksProperties(@DefaultValue Map<String, LockSettings> locks) {

    /** Refuses impossible values before the store is opened. */
    LocksProperties {
        locks.forEach((name, settings) -> settings.check(name));
    }

    /** The settings by the names of locks, in the form in which requests have them. */
    Map<String, LockSettings> settings() {
        return locks.entrySet().stream()
                .collect(Collectors.toMap(
                        each -> LockLimits.key(each.getKey()), Map.Entry::getValue, (one, same) -> one));
    }
}
