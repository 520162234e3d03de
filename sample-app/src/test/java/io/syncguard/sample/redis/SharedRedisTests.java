package io.syncguard.sample.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/**
 * Who starts the Redis of the sample, and who stops it.
 */
class SharedRedisTests {

    @Test
    void theSecondInstanceFindsTheServerOfTheFirstAndTheLastStopsIt() throws Exception {
        SharedRedis first = SharedRedis.join(0);
        int port = port(first);

        SharedRedis second = SharedRedis.join(port);
        assertThat(port(second)).isEqualTo(port);

        first.close();
        assertThat(isThere(port)).isTrue();

        second.close();
        assertThat(isThere(port)).isFalse();
    }

    @Test
    void aServerOfSomebodyElseIsNeitherUsedNorStopped() throws Exception {
        RedisServer stranger = new RedisServer(RedisProcess.freePort());
        stranger.start();
        int port = stranger.ports().get(0);
        try {
            assertThatIllegalStateException()
                    .isThrownBy(() -> SharedRedis.join(port))
                    .withMessageContaining("sample.redis-port");
            assertThat(isThere(port)).isTrue();
        } finally {
            stranger.stop();
        }
    }

    private static int port(SharedRedis redis) {
        return Objects.requireNonNull(redis.getStandalone()).getPort();
    }

    private static boolean isThere(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException ex) {
            return false;
        }
    }
}
