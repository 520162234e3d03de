package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What the sample prints if its server does not start. */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureTests {

    @ParameterizedTest
    @CsvSource({
        "redis, postgres, PostgreSQL, spring.datasource.url, redis",
        "redis, redis, Redis, spring.data.redis.url, postgres",
        "mariadb, mariadb, MariaDB, spring.datasource.url, postgres",
        "h2, h2, H2, spring.datasource.url, postgres"
    })
    void a_taken_port_is_named_with_the_ways_out(
            String profile, String server, String name, String url, String other, CapturedOutput output)
            throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            assertThatException()
                    .isThrownBy(() -> SpringApplication.run(
                            SampleApplication.class,
                            "--server.port=0",
                            "--spring.profiles.active=" + profile,
                            "--sample." + other + "-port=0",
                            "--sample." + server + "-port=" + taken.getLocalPort()));

            assertThat(output)
                    .containsSubsequence(
                            "APPLICATION FAILED TO START",
                            "Port " + taken.getLocalPort() + " of the " + name + " is taken by another program",
                            "Set sample." + server + "-port to a free port, or " + url + " to your own server.")
                    .doesNotContain("Caused by");
        }
    }
}
