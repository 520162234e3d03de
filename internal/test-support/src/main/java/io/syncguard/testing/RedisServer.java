package io.syncguard.testing;

import io.syncguard.embedded.OwnRedis;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;

/**
 * The one real Redis of a test run: the server of the environment variable {@value #URL} if it is set, else a
 * container if a Docker engine answers and no other executable is set, else an embedded server.
 */
public final class RedisServer {

    private static final String URL = "SYNCGUARD_TEST_REDIS_URL";

    private static final int PORT = 6379;

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private static final String SERVER_URL = start();

    private RedisServer() {}

    public static String url() {
        return SERVER_URL;
    }

    /** The connection factory of an application that uses this server. Not started. */
    public static LettuceConnectionFactory connections(String url) {
        return new LettuceConnectionFactory(
                (RedisStandaloneConfiguration) LettuceConnectionFactory.createRedisConfiguration(url),
                OwnRedis.clientConfiguration());
    }

    /** Returns a prefix without keys. */
    public static String newPrefix() {
        return "{test_" + ProcessHandle.current().pid() + "_" + PREFIXES.incrementAndGet() + "}";
    }

    private static String start() {
        String configured = System.getenv(URL);
        if (configured != null) {
            return configured;
        }
        return OwnRedis.isOfAnotherBinary() || !DockerClientFactory.instance().isDockerAvailable()
                ? startEmbedded()
                : startContainer();
    }

    private static String startContainer() {
        // Ryuk, not this process, stops the container after the run.
        GenericContainer<?> container = new GenericContainer<>("redis:8").withExposedPorts(PORT);
        container.start();
        return "redis://" + container.getHost() + ":" + container.getMappedPort(PORT);
    }

    private static String startEmbedded() {
        // The server ends with this process.
        return new OwnRedis().url();
    }
}
