package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** An application whose database is not PostgreSQL fails at the start with a message that says so and what to do. */
@ExtendWith(OutputCaptureExtension.class)
class NotPostgresTests {

    private static final String H2 = "jdbc:h2:mem:orders";

    @ParameterizedTest
    @ValueSource(strings = {"flyway", "initialize", "none"})
    void the_start_fails_with_a_few_lines_that_say_what_to_do(String schemaManagement, CapturedOutput output) {
        SpringApplicationBuilder application =
                new SpringApplicationBuilder(AnyApplication.class).web(WebApplicationType.NONE);

        assertThatThrownBy(() -> application.run(
                        "--spring.datasource.url=" + H2,
                        "--syncguard.postgres.schema-management=" + schemaManagement,
                        "--syncguard.postgres.network-timeout=500ms"))
                .hasStackTraceContaining("leads to H2");

        assertThat(output).doesNotContain("\tat ");
        assertThat(output.getAll().substring(output.getAll().indexOf("APPLICATION FAILED TO START")))
                .contains("PostgreSQL or Redis", "leads to H2")
                .contains("spring.datasource.url", "@SyncGuardDataSource")
                .contains("syncguard.backend=redis", "syncguard.enabled=false")
                .hasLineCount(16);
    }

    @Test
    void a_pool_is_asked_for_its_product() {
        assertFailureNamesH2(Applications.on(H2));
    }

    @Test
    void a_data_source_that_does_not_reveal_its_url_is_asked_for_its_product() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setUrl(H2);

        assertFailureNamesH2(
                Applications.withoutDatabase().withBean(DataSource.class, () -> new DelegatingDataSource(h2) {}));
    }

    @Test
    void locks_that_are_switched_off_need_no_postgresql() {
        Applications.on(H2)
                .withPropertyValues("syncguard.enabled=false")
                .run(application -> assertThat(application).hasNotFailed());
    }

    private static void assertFailureNamesH2(ApplicationContextRunner runner) {
        runner.withPropertyValues("syncguard.postgres.network-timeout=500ms")
                .run(application -> assertThat(application)
                        .getFailure()
                        .satisfies(failure -> assertThat(new NotPostgresFailureAnalyzer().analyze(failure))
                                .isNotNull()
                                .satisfies(analysis -> {
                                    assertThat(analysis.getDescription()).endsWith("leads to H2.");
                                    assertThat(analysis.getCause())
                                            .isInstanceOfSatisfying(
                                                    LockException.class,
                                                    ex -> assertThat(ex.code())
                                                            .isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                                            .hasMessageContaining("syncguard.backend");
                                })));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class AnyApplication {}
}
