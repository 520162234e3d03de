package io.syncguard.embedded;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.embedded.RedisSentinel;

/**
 * An embedded sentinel that watches a single master, and promotes one of its replicas a second after the master is
 * gone.
 */
public final class OwnSentinel implements AutoCloseable {

    /** The name of the master. */
    public static final String MASTER = "locks";

    private final int port = OwnRedis.freePort();
    private final RedisSentinel sentinel;
    private final RedisClient client;
    private final RedisSentinelCommands<String, String> commands;

    /** @param replicas the number of replicas. When this returns, the sentinel knows all of them */
    public OwnSentinel(OwnRedis master, int replicas) {
        try {
            sentinel = RedisSentinel.newRedisSentinel()
                    .bind("127.0.0.1")
                    .port(port)
                    .masterName(MASTER)
                    .masterPort(master.port())
                    .quorumSize(1)
                    .downAfterMilliseconds(1000)
                    .failOverTimeout(10_000)
                    .setting("pidfile "
                            + OwnRedis.quoted(
                                    RunDirectory.newDirectory("sentinel").resolve("sentinel.pid")))
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

    @Override
    public void close() {
        client.shutdown();
        try {
            sentinel.stop();
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded sentinel did not stop", ex);
        }
    }
}
