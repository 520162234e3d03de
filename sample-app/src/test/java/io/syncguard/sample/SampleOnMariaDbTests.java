package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.TestPropertySource;

/**
 * The walk-through of {@link SampleApplicationTests} on a MariaDB of the instance's own.
 */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
@ActiveProfiles("mariadb")
@TestPropertySource(properties = "sample.mariadb-port=0")
@Tag("verification")
class SampleOnMariaDbTests extends SampleApplicationTests {

    SampleOnMariaDbTests(@LocalServerPort int port) {
        super(port);
    }

    @Test
    void locksAndOrdersAreInMariaDb(@Autowired JdbcClient jdbc) {
        assertThat(post("/orders/44/submit").join().statusCode()).isEqualTo(200);

        assertThat(jdbc.sql("SELECT version()").query(String.class).single()).contains("MariaDB");
        assertThat(jdbc.sql("SELECT fence FROM processed_orders WHERE order_id = 44")
                        .query(Long.class)
                        .single())
                .isEqualTo(jdbc.sql("SELECT fence FROM syncguard_keys WHERE lock_key = 'order:44'")
                        .query(Long.class)
                        .single());
    }
}
