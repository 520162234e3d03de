package io.syncguard.sample.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;

/**
 * One instance's membership in the Redis server that all instances of the sample on this machine share, as they share their
 * PostgreSQL: the first instance starts it, later ones find it on its port, and the last one to leave stops it. After a {@code
 * kill -9} of the last instance it is left over; the next instance joins it, and stops it when it leaves as the last one.
 *
 * <p>A connection with a name that stays open tells the others that this instance is there: it ends with the process.
 */
final class SharedRedis implements DataRedisConnectionDetails, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedRedis.class);

    private static final String HOST = "127.0.0.1";
    private static final String MEMBER = "syncguard-sample-member";

    private static final Duration TIME_TO_START = Duration.ofSeconds(20);
    private static final Duration TIME_TO_ANSWER = Duration.ofSeconds(5);

    private final int port;
    private final RedisClient client;
    private final RedisCommands<String, String> membership;
    private final RedisProcess server;

    private SharedRedis(int port, RedisClient client, RedisCommands<String, String> membership, RedisProcess server) {
        this.port = port;
        this.client = client;
        this.membership = membership;
        this.server = server;
    }

    /**
     * Joins the server on this port, and starts it if nothing listens there.
     *
     * @param port a port of the loopback interface; 0 starts a server of one's own on a free one
     */
    static SharedRedis join(int port) throws IOException, InterruptedException {
        // Without turns two instances that start at once would both start a server, and one that leaves could stop the
        // server
        // that another has just found. The end of a process ends its turn, too.
        try (FileChannel turn = openTurn()) {
            turn.lock();
            SharedRedis joined = enter(port == 0 ? RedisProcess.freePort() : port);
            LOG.info("Redis of the sample: redis://{}:{}, {}", HOST, joined.port, joined.server);
            return joined;
        }
    }

    @Override
    public Standalone getStandalone() {
        return Standalone.of(HOST, port);
    }

    /** Leaves the server, and stops it if nobody else is there. */
    @Override
    public void close() throws IOException {
        try (FileChannel turn = openTurn()) {
            turn.lock();
            // Not by its end, which the server notices when it gets to it.
            membership.clientSetname("");
            if (isEmpty()) {
                server.stop();
            }
        } catch (RedisException ex) {
            LOG.info("The Redis of the sample is gone already: {}", ex.getMessage());
        } finally {
            client.shutdown(Duration.ZERO, TIME_TO_ANSWER);
        }
    }

    private static FileChannel openTurn() throws IOException {
        return FileChannel.open(
                RedisProcess.home().resolve("turn"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private static SharedRedis enter(int port) throws IOException, InterruptedException {
        RedisClient client = RedisClient.create(RedisURI.builder()
                .withHost(HOST)
                .withPort(port)
                .withClientName(MEMBER)
                .withTimeout(TIME_TO_ANSWER)
                .build());
        try {
            RedisCommands<String, String> found = connect(client, port);
            RedisCommands<String, String> membership = found == null ? start(client, port) : found;
            RedisProcess server = RedisProcess.behind(membership);
            if (server == null) {
                throw new IllegalStateException("The Redis on port " + port + " is not one of this sample: set"
                        + " sample.redis-port to a free port, or spring.data.redis.url to use that server");
            }
            return new SharedRedis(port, client, membership, server);
        } catch (IOException | InterruptedException | RuntimeException ex) {
            client.shutdown(Duration.ZERO, TIME_TO_ANSWER);
            throw ex;
        }
    }

    private static RedisCommands<String, String> start(RedisClient client, int port)
            throws IOException, InterruptedException {
        Path directory = RedisProcess.start(port);
        long deadline = System.nanoTime() + TIME_TO_START.toNanos();
        while (System.nanoTime() - deadline < 0) {
            RedisCommands<String, String> connection = connect(client, port);
            if (connection != null) {
                return connection;
            }
            Thread.sleep(50);
        }
        throw new IOException("Redis does not start; its log is " + RedisProcess.log(directory)
                + ". Run the sample on a server of" + " your own with spring.data.redis.url");
    }

    /** A connection to whatever listens on the port; {@code null} when nothing does. */
    private static @Nullable RedisCommands<String, String> connect(RedisClient client, int port) throws IOException {
        try {
            return client.connect().sync();
        } catch (RedisConnectionException ex) {
            if (ex.getCause() instanceof ConnectException) {
                return null;
            }
            throw new IOException(
                    "What listens on port " + port
                            + " does not let the sample in: set sample.redis-port to a free port",
                    ex);
        }
    }

    private boolean isEmpty() {
        return membership.clientList().lines().noneMatch(client -> client.contains("name=" + MEMBER + " "));
    }
}
