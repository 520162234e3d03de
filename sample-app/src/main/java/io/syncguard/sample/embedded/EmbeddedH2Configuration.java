package io.syncguard.sample.embedded;

import io.syncguard.embedded.SharedServer;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Keeps the data of the sample in memory, unless {@code spring.datasource.url} names a database.
 */
@Configuration(proxyBeanMethods = false)
@Profile("h2")
// Matches only if the property is missing, because no URL has this value. Spring Boot has no condition for a missing
// property.
@ConditionalOnProperty(name = "spring.datasource.url", havingValue = "embedded", matchIfMissing = true)
class EmbeddedH2Configuration {

    private static final String REMEDY =
            "set sample.h2-port to a free port, or spring.datasource.url to your own server";

    /** The data source is built on this bean, so Spring closes it after the last connection of the pool is closed. */
    @Bean
    H2Memory h2Memory(@Value("${sample.h2-port}") int port) throws SQLException {
        return H2Memory.join(new SharedServer("syncguard-sample-h2", port, REMEDY));
    }

    @Bean
    JdbcConnectionDetails jdbcConnectionDetails(H2Memory memory) {
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return memory.url();
            }

            @Override
            public String getUsername() {
                return H2Memory.USER;
            }

            @Override
            public @Nullable String getPassword() {
                return null;
            }
        };
    }
}
