package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.LettuceVersion;
import org.junit.jupiter.api.Test;
import org.postgresql.util.DriverInfo;
import org.springframework.boot.SpringBootVersion;
import org.springframework.core.SpringVersion;

/** The module has the versions that it is for, and not those of the parent. */
class VersionsTests {

    @Test
    void the_versions_are_those_of_the_module() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(expected("spring-boot"));
        assertThat(SpringVersion.getVersion()).isEqualTo(expected("spring"));
        assertThat(DriverInfo.DRIVER_VERSION).isEqualTo(expected("postgresql"));
        assertThat(LettuceVersion.getVersion()).startsWith(expected("lettuce"));
    }

    private static String expected(String library) {
        return System.getProperty("expected." + library);
    }
}
