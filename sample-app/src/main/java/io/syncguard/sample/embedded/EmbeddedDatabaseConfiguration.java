package io.syncguard.sample.embedded;

import io.syncguard.embedded.SharedDatabase;
import io.syncguard.embedded.SharedServer;
import java.io.IOException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Starts a PostgreSQL or a MariaDB for the sample, unless {@code spring.datasource.url} names a server.
 */
@Configuration(proxyBeanMethods = false)
@Profile("!h2")
// Matches only if the property is missing, because no URL has this value. Spring Boot has no condition for a missing
// property.
@ConditionalOnProperty(name = "spring.datasource.url", havingValue = "embedded", matchIfMissing = true)
class EmbeddedDatabaseConfiguration {

    private static final String REMEDY = " to a free port, or spring.datasource.url to your own server";

    /** The data source is built on this bean, so Spring closes it after the last connection of the pool is closed. */
    @Bean
    @Profile("!mariadb")
    SharedDatabase sharedPostgres(@Value("${sample.postgres-port}") int port) throws IOException, SQLException {
        return SharedDatabase.postgres(new SharedServer("syncguard-sample", port, "set sample.postgres-port" + REMEDY));
    }

    @Bean
    @Profile("mariadb")
    SharedDatabase sharedMariaDb(@Value("${sample.mariadb-port}") int port) throws IOException, SQLException {
        return SharedDatabase.mariaDb(
                new SharedServer("syncguard-sample-mariadb", port, "set sample.mariadb-port" + REMEDY));
    }

    @Bean
    JdbcConnectionDetails jdbcConnectionDetails(SharedDatabase database) {
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return database.url();
            }

            @Override
            public String getUsername() {
                return database.user();
            }

            @Override
            public @Nullable String getPassword() {
                return null;
            }
        };
    }
}
