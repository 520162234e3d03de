package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The walk-through of {@link SampleApplicationTests} on H2 in the memory of the instance, and on a second instance that
 * finds it there.
 */
@ActiveProfiles("h2")
@Tag("verification")
class SampleOnH2Tests extends SampleApplicationTests {

    private static final String PORT = "sample.h2-port";

    SampleOnH2Tests(@LocalServerPort int port) {
        super(port);
    }

    @DynamicPropertySource
    static void serveOnAFreePort(DynamicPropertyRegistry properties) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            int port = free.getLocalPort();
            properties.add(PORT, () -> port);
        }
    }

    @Test
    void anOrderIsRefusedWhileASecondInstanceHasItsLock(
            @Autowired JdbcConnectionDetails first, @Autowired Environment environment) {
        assertThat(first.getJdbcUrl()).startsWith("jdbc:h2:mem:");
        try (ConfigurableApplicationContext second = new SpringApplicationBuilder(SampleApplication.class)
                .profiles("h2")
                .run("--server.port=0", "--" + PORT + "=" + environment.getRequiredProperty(PORT))) {
            assertThat(second.getBean(JdbcConnectionDetails.class).getJdbcUrl()).startsWith("jdbc:h2:tcp:");

            LockHandle lock = second.getBean(LockManager.class).acquire(LockRequest.of("order", "45"));
            assertThat(post("/orders/45/submit").join().statusCode()).isEqualTo(409);

            lock.close();
            assertThat(post("/orders/45/submit").join().statusCode()).isEqualTo(200);
        }
    }
}
