package io.syncguard.embedded;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process's membership in a Redis server that several processes on this machine share, as in
 * {@link SharedPostgres}: the first one starts it, later ones find it on its port, and the last one to leave stops it.
 * After a {@code kill -9} of the last process the server is left over. The next process joins it, and stops it if it is
 * the last one to leave.
 *
 * <p>An open connection with a name shows the other processes that this one uses the server. It ends with the process.
 */
public final class SharedRedis implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedRedis.class);

    private static final String HOST = "127.0.0.1";
    private static final String MEMBER = "syncguard-member";

    private static final Duration TIME_TO_START = Duration.ofSeconds(20);
    private static final Duration TIME_TO_ANSWER = Duration.ofSeconds(5);

    private final SharedServer shared;
    private final RedisClient client;
    private final RedisCommands<String, String> membership;
    private final ServerProcess process;

    private SharedRedis(
            SharedServer shared, RedisClient client, RedisCommands<String, String> membership, ServerProcess process) {
        this.shared = shared;
        this.client = client;
        this.membership = membership;
        this.process = process;
    }

    /** Joins the server, and starts it if nothing listens on its port. */
    public static SharedRedis join(SharedServer shared) throws IOException, InterruptedException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            SharedRedis joined = enter(shared.port() == 0 ? shared.withPort(OwnRedis.freePort()) : shared);
            LOG.info("Joined redis://{}:{}: {}", joined.host(), joined.port(), joined.process);
            return joined;
        }
    }

    public String host() {
        return HOST;
    }

    public int port() {
        return shared.port();
    }

    /** Leaves the server, and stops it if no other process uses it. */
    @Override
    public void close() throws IOException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            // Removes the name before the check, because the server detects the end of the connection only later.
            membership.clientSetname("");
            if (isEmpty()) {
                process.stop();
            }
        } catch (RedisException ex) {
            LOG.info("Redis on port {} is gone already: {}", port(), ex.getMessage());
        } finally {
            client.shutdown(Duration.ZERO, TIME_TO_ANSWER);
        }
    }

    private static SharedRedis enter(SharedServer shared) throws IOException, InterruptedException {
        RedisClient client = RedisClient.create(RedisURI.builder()
                .withHost(HOST)
                .withPort(shared.port())
                .withClientName(MEMBER)
                .withTimeout(TIME_TO_ANSWER)
                .build());
        try {
            RedisCommands<String, String> found = connect(client, shared);
            RedisCommands<String, String> membership = found == null ? start(client, shared) : found;
            ServerProcess process = new RedisStarter(shared).behind(membership);
            if (process == null) {
                throw new IllegalStateException("The Redis on port " + shared.port() + " is not the one of "
                        + shared.name() + ": " + shared.remedy());
            }
            return new SharedRedis(shared, client, membership, process);
        } catch (IOException | InterruptedException | RuntimeException ex) {
            client.shutdown(Duration.ZERO, TIME_TO_ANSWER);
            throw ex;
        }
    }

    private static RedisCommands<String, String> start(RedisClient client, SharedServer shared)
            throws IOException, InterruptedException {
        Path directory = new RedisStarter(shared).start();
        RedisCommands<String, String> connection = Patience.poll(TIME_TO_START, () -> connect(client, shared));
        if (connection == null) {
            throw new IOException(
                    "Redis does not start; its log is " + ServerProcess.log(directory) + ": " + shared.remedy());
        }
        return connection;
    }

    /** Connects to the server that listens on the port; {@code null} if there is none. */
    private static @Nullable RedisCommands<String, String> connect(RedisClient client, SharedServer shared) {
        try {
            return client.connect().sync();
        } catch (RedisConnectionException ex) {
            if (ex.getCause() instanceof ConnectException) {
                return null;
            }
            throw new IllegalStateException(
                    "What listens on port " + shared.port() + " is not the Redis of " + shared.name() + ": "
                            + shared.remedy(),
                    ex);
        }
    }

    private boolean isEmpty() {
        return membership.clientList().lines().noneMatch(client -> client.contains("name=" + MEMBER + " "));
    }
}
