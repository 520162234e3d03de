package io.syncguard.embedded;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.Closeable;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.FileChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process's membership in a Redis server that several processes of a user share, as in {@link SharedDatabase}: the
 * first one starts it, later ones find it on its port, and the last one to leave stops it. After a {@code kill -9} of
 * the last process the server is left over. The next process that joins a server of this name stops it, or joins it if
 * it has the same port.
 *
 * <p>An open connection with a name shows the other processes that this one uses the server. It ends with the process.
 */
public final class SharedRedis implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedRedis.class);

    private static final String HOST = "127.0.0.1";
    private static final String MEMBER = "syncguard-member";

    private static final Duration TIME_TO_START = Duration.ofSeconds(20);
    private static final Duration TIME_TO_ANSWER = Duration.ofSeconds(5);

    private final SharedServer shared;
    private final RedisClient client;
    private final RedisCommands<String, String> membership;

    private SharedRedis(SharedServer shared, RedisClient client, RedisCommands<String, String> membership) {
        this.shared = shared;
        this.client = client;
        this.membership = membership;
    }

    /**
     * Joins the server, and starts it if it does not run.
     *
     * @throws ServerNotStartedException if it does not start
     */
    public static SharedRedis join(SharedServer shared) throws IOException, InterruptedException {
        try (FileChannel turn = shared.openTurn()) {
            turn.lock();
            SharedServer server = shared.withPort();
            for (SharedServer other : server.others()) {
                stopIfUnused(other);
            }
            if (!RedisStarter.isRunning(server)) {
                new RedisStarter(server).start();
            }
            SharedRedis joined = enter(server);
            LOG.info("Joined redis://{}:{}, files in {}", joined.host(), joined.port(), server.directory());
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
            leave();
        }
    }

    private static void stopIfUnused(SharedServer other) throws IOException, InterruptedException {
        if (RedisStarter.isRunning(other)) {
            enter(other).leave();
        } else {
            other.removeDirectory();
        }
    }

    private static SharedRedis enter(SharedServer server) throws IOException, InterruptedException {
        RedisClient client = RedisClient.create(RedisURI.builder()
                .withHost(HOST)
                .withPort(server.port())
                .withClientName(MEMBER)
                .withTimeout(TIME_TO_ANSWER)
                .build());
        try {
            RedisCommands<String, String> membership = Patience.poll(TIME_TO_START, () -> connect(client));
            if (membership == null) {
                RedisStarter.pidFile(server).stop();
                throw server.notStarted("Redis", null);
            }
            return new SharedRedis(server, client, membership);
        } catch (IOException | InterruptedException | RuntimeException ex) {
            client.shutdown(Duration.ZERO, TIME_TO_ANSWER);
            throw ex;
        }
    }

    private void leave() throws IOException {
        if (isLast()) {
            RedisStarter.pidFile(shared).stop();
            shared.removeDirectory();
        }
    }

    /** Ends this membership. */
    private boolean isLast() {
        try {
            // Removes the name before the check, because the server detects the end of the connection only later.
            membership.clientSetname("");
            return membership.clientList().lines().noneMatch(client -> client.contains("name=" + MEMBER + " "));
        } catch (RedisException ex) {
            LOG.info("Redis on port {} is gone already: {}", port(), ex.getMessage());
            return false;
        } finally {
            client.shutdown(Duration.ZERO, TIME_TO_ANSWER);
        }
    }

    /** Connects to the server; {@code null} if it does not listen yet. */
    private static @Nullable RedisCommands<String, String> connect(RedisClient client) {
        try {
            return client.connect().sync();
        } catch (RedisConnectionException ex) {
            if (ex.getCause() instanceof ConnectException) {
                return null;
            }
            throw ex;
        }
    }
}
