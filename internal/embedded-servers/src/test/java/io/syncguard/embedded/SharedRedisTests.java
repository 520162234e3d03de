package io.syncguard.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;

/** Which process starts a shared Redis, and which one stops it. */
class SharedRedisTests {

    private static final String NAME = "syncguard-test-redis";

    @Test
    void theSecondInstanceFindsTheServerOfTheFirstAndTheLastStopsIt() throws Exception {
        SharedRedis first = join(0);
        int port = first.port();

        SharedRedis second = join(port);
        assertThat(second.port()).isEqualTo(port);

        first.close();
        assertThat(isThere(port)).isTrue();

        second.close();
        assertThat(isThere(port)).isFalse();
    }

    @Test
    void aServerOfSomebodyElseIsNeitherUsedNorStopped() {
        try (OwnRedis foreignServer = new OwnRedis()) {
            int port = foreignServer.port();

            assertThatExceptionOfType(ServerNotStartedException.class)
                    .isThrownBy(() -> join(port))
                    .withMessageContaining("Port " + port);
            assertThat(isThere(port)).isTrue();
        }
    }

    private static SharedRedis join(int port) throws IOException, InterruptedException {
        return SharedRedis.join(new SharedServer(NAME, port, "set the port to a free one"));
    }

    private static boolean isThere(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException ex) {
            return false;
        }
    }
}
