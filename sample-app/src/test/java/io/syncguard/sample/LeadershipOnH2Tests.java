package io.syncguard.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * {@link LeadershipTests} with the lock of the leader in the memory of this instance, where the other one finds it.
 */
@ActiveProfiles("h2")
@Tag("verification")
class LeadershipOnH2Tests extends LeadershipTests {

    @Value("${sample.h2-port}")
    private int databasePort;

    LeadershipOnH2Tests(@LocalServerPort int port) {
        super(port);
    }

    @DynamicPropertySource
    static void serveOnAFreePort(DynamicPropertyRegistry properties) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            int port = free.getLocalPort();
            properties.add("sample.h2-port", () -> port);
        }
    }

    @Override
    Stream<String> servers() {
        return Stream.of("--spring.profiles.active=h2", "--sample.h2-port=" + databasePort);
    }
}
