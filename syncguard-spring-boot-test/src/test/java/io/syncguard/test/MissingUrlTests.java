package io.syncguard.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.test.autoconfigure.TestLocksAutoConfiguration;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** An application with locks in memory, whose own {@code DataSource} is not configured. */
@ExtendWith(OutputCaptureExtension.class)
class MissingUrlTests {

    /** With two backends, the ones in memory have the names of those of the servers. */
    @ParameterizedTest
    @ValueSource(strings = {"", "postgres", "postgres,redis"})
    void the_report_says_that_the_locks_need_none(String backend, CapturedOutput output) {
        assertThatThrownBy(() -> start("--syncguard.backend=" + backend)).isNotNull();

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "The application has no database")
                .contains("Its locks need none, but its own DataSource does.")
                .doesNotContain("Use PostgreSQL", "syncguard.enabled=false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--syncguard.enabled=false", "--spring.datasource.url=jdbc:unknown:shop"})
    void without_locks_or_with_an_url_the_report_is_that_of_spring_boot(String property, CapturedOutput output) {
        assertThatThrownBy(() -> start(property)).isNotNull();

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "Failed to configure a DataSource")
                .doesNotContain("The application has no database");
    }

    private static void start(String property) {
        new SpringApplicationBuilder(OrderApplication.class, TestLocksAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .run("--spring.datasource.embedded-database-connection=none", property)
                .close();
    }
}
