package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** An application that does not start says why, in a text for people. */
@ExtendWith(OutputCaptureExtension.class)
class FailedStartTests {

    @Test
    void without_a_url_of_a_database(CapturedOutput output) {
        assertThatThrownBy(() -> start("spring.flyway.enabled=false")).isNotNull();

        assertThat(output)
                .contains("The application has no database: spring.datasource.url is not set")
                .contains("spring.autoconfigure.exclude=" + BootVersion.dataSourceAutoConfiguration() + ".");
    }

    @Test
    void with_a_property_that_is_wrong(CapturedOutput output) {
        assertThatThrownBy(() -> start("spring.datasource.url=jdbc:postgresql:none", "syncguard.backend=oracle"))
                .isNotNull();

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "syncguard.backend", "oracle", "Action:")
                .doesNotContain("\tat ");
    }

    private static void start(String... properties) {
        new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(properties)
                .run()
                .close();
    }
}
