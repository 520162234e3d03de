package io.syncguard.embedded;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisSentinel;

/**
 * An embedded sentinel that watches a single master, and promotes one of its replicas a second after the master is
 * gone.
 */
public final class OwnSentinel implements AutoCloseable {

    /** The name of the master. */
    public static final String MASTER = "locks";

    private final int port = OwnRedis.freePort();
    private final Path files = RunDirectory.newDirectory("sentinel");
    private final RedisSentinel sentinel;
    private final RedisClient client;
    private final RedisSentinelCommands<String, String> commands;

    /**
     * @param replicas the number of replicas. When this returns, the sentinel knows all of them
     * @param more further lines of its configuration file
     */
    public OwnSentinel(OwnRedis master, int replicas, String... more) {
        // The library would write the settings with the digits of the default locale.
        Path settings = files.resolve("sentinel.conf");
        try {
            Files.writeString(
                    settings,
                    """
                    bind 127.0.0.1
                    port %2$s
                    pidfile %4$s
                    sentinel monitor %1$s 127.0.0.1 %3$s 1
                    sentinel down-after-milliseconds %1$s 1000
                    sentinel failover-timeout %1$s 10000
                    sentinel parallel-syncs %1$s 1
                    """.formatted(MASTER, port, master.port(), OwnRedis.quoted(files.resolve("sentinel.pid")))
                            + String.join("\n", more));
            sentinel = RedisSentinel.newRedisSentinel()
                    .configFile(settings.toString())
                    .port(port)
                    .build();
            sentinel.start();
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded sentinel did not start", ex);
        }
        client = RedisClient.create(
                RedisURI.Builder.sentinel("127.0.0.1", port, MASTER).build());
        commands = client.connectSentinel().sync();
        awaitReplicas(replicas);
    }

    public int port() {
        return port;
    }

    /** Waits until the sentinel knows this number of replicas of the master, and none of them is down. */
    public void awaitReplicas(int replicas) {
        Patience.awaitOrFail(() -> commands.replicas(MASTER).stream()
                        .filter(replica -> "slave".equals(replica.get("flags")))
                        .count()
                == replicas);
    }

    /** The connection factory of an application that asks this sentinel for the master. Not started. */
    public LettuceConnectionFactory connections() {
        return new LettuceConnectionFactory(
                new RedisSentinelConfiguration().master(MASTER).sentinel("127.0.0.1", port),
                OwnRedis.clientConfiguration());
    }

    /** The port of the current master. */
    public int master() {
        return ((InetSocketAddress) commands.getMasterAddrByName(MASTER)).getPort();
    }

    /** Changes the rights of a user, such as those of a user without a name, {@code default}. */
    public void setUser(String name, String... rules) {
        CommandArgs<String, String> change =
                new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(name);
        List.of(rules).forEach(change::add);
        commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), change);
    }

    /** Closes the connections of all other clients. */
    public void dropClients() {
        commands.clientKill(KillArgs.Builder.typeNormal().skipme());
    }

    @Override
    public void close() {
        client.shutdown();
        try {
            sentinel.stop();
            FileSystemUtils.deleteRecursively(files);
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded sentinel did not stop", ex);
        }
    }
}
