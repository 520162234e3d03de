package io.syncguard.sample.embedded;

import io.syncguard.embedded.SharedPostgres;
import io.syncguard.embedded.SharedServer;
import java.io.IOException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Starts a PostgreSQL for the sample, unless {@code spring.datasource.url} names one.
 */
@Configuration(proxyBeanMethods = false)
// Matches only if the property is missing, because no URL has this value. Spring Boot has no condition for a missing
// property.
@ConditionalOnProperty(name = "spring.datasource.url", havingValue = "embedded", matchIfMissing = true)
class EmbeddedPostgresConfiguration {

    private static final String REMEDY =
            "set sample.postgres-port to a free port, or spring.datasource.url to your own server";

    /** The data source is built on this bean, so Spring closes it after the last connection of the pool is closed. */
    @Bean
    SharedPostgres sharedPostgres(@Value("${sample.postgres-port}") int port) throws IOException, SQLException {
        return SharedPostgres.join(new SharedServer("syncguard-sample", port, REMEDY));
    }

    @Bean
    JdbcConnectionDetails jdbcConnectionDetails(SharedPostgres postgres) {
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return postgres.url();
            }

            @Override
            public String getUsername() {
                return postgres.user();
            }

            @Override
            public @Nullable String getPassword() {
                return null;
            }
        };
    }
}
