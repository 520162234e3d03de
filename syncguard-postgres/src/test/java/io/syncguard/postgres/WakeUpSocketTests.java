package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;

/** The socket of the connection for wake-ups, beside a socket factory of the application. */
class WakeUpSocketTests {

    private static final String URL = "jdbc:postgresql://localhost/shop?user=shop";

    @Test
    void a_socket_factory_of_the_application_is_left_alone() {
        assertThat(socketFactoryOf(pool())).isEqualTo(PromptSocketFactory.class.getName());
        HikariDataSource withFactory = pool();
        withFactory.addDataSourceProperty("socketFactory", "com.example.TheirSocketFactory");
        assertThat(socketFactoryOf(withFactory)).isEqualTo("com.example.TheirSocketFactory");
    }

    @Test
    void a_socket_factory_in_the_url_is_left_alone() {
        HikariDataSource pool = pool();
        pool.setJdbcUrl(URL + "&socketFactory=com.example.TheirSocketFactory");
        assertThat(socketFactoryOf(pool)).isNull();
    }

    @Test
    void a_socket_factory_of_a_service_file_is_left_alone(@TempDir Path folder) throws IOException {
        Path services = Files.writeString(
                folder.resolve("pg_service.conf"),
                "[shop]\nhost=localhost\nsocketFactory=com.example.TheirSocketFactory\n");
        HikariDataSource pool = pool();
        pool.setJdbcUrl("jdbc:postgresql://?service=shop");
        System.setProperty("org.postgresql.pgservicefile", services.toString());
        try {
            assertThat(socketFactoryOf(pool)).isNull();
        } finally {
            System.clearProperty("org.postgresql.pgservicefile");
        }
    }

    @Test
    void a_socket_factory_of_the_drivers_defaults_is_left_alone(@TempDir Path folder) throws IOException {
        Path defaults = folder.resolve("org/postgresql/driverconfig.properties");
        Files.createDirectories(defaults.getParent());
        Files.writeString(defaults, "socketFactory=com.example.TheirSocketFactory\n");
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(URL);
        try (URLClassLoader driver =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, Driver.class.getClassLoader())) {
            WakeUpSocket.addTo(details, driver);
        }
        assertThat(details.getDataSourceProperties()).doesNotContainKey("socketFactory");
    }

    @Test
    void a_socket_factory_that_a_data_source_sets_itself_is_left_alone() {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSourceClassName(TunnelledDataSource.class.getName());
        pool.addDataSourceProperty("url", URL);
        assertThat(socketFactoryOf(pool)).isNull();
    }

    /** The driver may set a factory. */
    @Test
    void a_socket_factory_of_another_driver_is_left_alone() {
        HikariDataSource pool = pool();
        pool.setDriverClassName(TunnellingDriver.class.getName());
        assertThat(socketFactoryOf(pool)).isNull();
    }

    private HikariDataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(URL);
        return pool;
    }

    private static @Nullable String socketFactoryOf(HikariConfig application) {
        HikariConfig details = new HikariConfig();
        application.copyStateTo(details);
        new PostgresDatabase().completeForWakeUps(details);
        return details.getDataSourceProperties().getProperty("socketFactory");
    }

    /** Public, because pools instantiate it by name. */
    public static final class TunnelledDataSource extends PGSimpleDataSource {

        private static final long serialVersionUID = 1;

        public TunnelledDataSource() {
            setSocketFactory("com.example.TheirSocketFactory");
        }
    }

    /** Public, because pools instantiate it by name. */
    public static final class TunnellingDriver extends Driver {}
}
