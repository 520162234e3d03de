package io.syncguard.core;

import java.time.Duration;
import java.util.Map;

/** The settings of an engine without properties, for tests. */
public final class DefaultSettings {

    private DefaultSettings() {}

    public static EngineSettings of(String owner) {
        return new EngineSettings(
                owner,
                Duration.ofSeconds(30),
                Duration.ofSeconds(5),
                EngineSettings.FIRST_RETRY,
                EngineSettings.LONGEST_RETRY,
                Duration.ofSeconds(10),
                Duration.ZERO,
                Map.of());
    }
}
