package io.syncguard.compatibility;

import org.springframework.boot.SpringBootVersion;

/** What differs between the versions. */
final class BootVersion {

    private BootVersion() {}

    static boolean is3() {
        return SpringBootVersion.getVersion().startsWith("3.");
    }

    static String dataSourceAutoConfiguration() {
        return is3()
                ? "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
                : "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";
    }
}
