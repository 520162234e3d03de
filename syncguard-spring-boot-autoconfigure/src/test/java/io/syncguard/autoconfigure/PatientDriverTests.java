package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockTemplate;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.net.URI;
import java.sql.DriverManager;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** The limits of the library leave the driver the time that it needs, and those of the application as they are. */
class PatientDriverTests {

    @ParameterizedTest
    @ValueSource(strings = {"connectTimeout=2", "connectTimeout=3", "connectTimeout=2&targetServerType=primary"})
    void the_second_host_of_postgresql_is_asked_when_the_first_is_dark(String limit) throws Exception {
        String url = PostgresServer.newDatabaseUrl();
        try (DarkHost dark = new DarkHost()) {
            locks(Applications.on(url.replace("//", "//127.0.0.1:" + dark.port() + ",") + "&" + limit));
        }
    }

    @Test
    void the_second_host_of_mariadb_is_asked_when_the_first_is_dark() throws Exception {
        String url = MariaDbServer.newDatabaseUrl();
        try (DarkHost dark = new DarkHost()) {
            locks(Applications.on(url.replace("//", "//127.0.0.1:" + dark.port() + ",")
                    + (url.contains("?") ? "&" : "?") + "connectTimeout=3000"));
        }
    }

    @Test
    void the_start_waits_for_a_postgresql_that_wakes_up() {
        String url = PostgresServer.newDatabaseUrl();
        int port = portOf(url);
        try (WakingServer waking = new WakingServer(port, Duration.ofSeconds(4))) {
            locks(Applications.on(url.replace(":" + port, ":" + waking.port())));
        }
    }

    @Test
    void the_start_waits_for_a_mariadb_that_wakes_up() {
        String url = MariaDbServer.newDatabaseUrl();
        int port = portOf(url);
        try (WakingServer waking = new WakingServer(port, Duration.ofSeconds(4))) {
            locks(Applications.on(url.replace(":" + port, ":" + waking.port())));
        }
    }

    @Test
    void the_limits_of_the_application_for_a_login_stay() throws Exception {
        int before = DriverManager.getLoginTimeout();
        try {
            DriverManager.setLoginTimeout(77);
            PGSimpleDataSource driver = new PGSimpleDataSource();
            driver.setUrl(PostgresServer.newDatabaseUrl());
            driver.setLoginTimeout(55);
            Applications.withoutDatabase()
                    .withBean(DataSource.class, () -> driver)
                    .run(PatientDriverTests::lock);
            assertThat(driver.getLoginTimeout()).isEqualTo(55);
            Applications.on(PostgresServer.newDatabaseUrl()).run(application -> {
                application.getBean(DataSource.class).getConnection().close();
                int ofApplication = DriverManager.getLoginTimeout();
                lock(application);
                assertThat(DriverManager.getLoginTimeout()).isEqualTo(ofApplication);
            });
            HikariDataSource pool = new HikariDataSource();
            pool.setDataSource(driver);
            pool.setConnectionTimeout(60_000);
            pool.getConnection().close();
            Applications.withoutDatabase()
                    .withBean(DataSource.class, () -> pool)
                    .run(application -> {
                        lock(application);
                        assertThat(driver.getLoginTimeout()).isEqualTo(60);
                    });
        } finally {
            DriverManager.setLoginTimeout(before);
        }
    }

    private static int portOf(String url) {
        return URI.create(url.substring("jdbc:".length())).getPort();
    }

    private static void locks(ApplicationContextRunner application) {
        application.run(PatientDriverTests::lock);
    }

    private static void lock(ApplicationContext application) {
        assertThat(application.getBean(LockTemplate.class).<String, RuntimeException>execute("order:1", lock -> "held"))
                .isEqualTo("held");
    }
}
