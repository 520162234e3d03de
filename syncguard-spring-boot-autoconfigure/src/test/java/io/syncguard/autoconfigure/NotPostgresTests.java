package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** How the product of a database is found out. {@link PostgresFailedStartTests} has what a person reads. */
class NotPostgresTests {

    private static final String H2 = "jdbc:h2:mem:orders";

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
                        .extracting(NotPostgresTests::setupFailure, as(type(LockSetupException.class)))
                        .satisfies(ex -> {
                            assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
                            assertThat(ex.problem()).endsWith("leads to H2");
                        }));
    }

    /** Spring wraps it once for each bean on the way. */
    private static Throwable setupFailure(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .filter(LockSetupException.class::isInstance)
                .findFirst()
                .orElseThrow();
    }
}
