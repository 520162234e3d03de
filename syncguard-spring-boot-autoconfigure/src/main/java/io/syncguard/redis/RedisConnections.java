package io.syncguard.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The library's own connections, made from the connection details of the application's connection factory: one for lock
 * operations, which travel together on it, and one for wake-ups as soon as somebody waits. Neither the application's commands nor
 * its threads can hold them up.
 *
 * <p>The driver makes a connection again that was lost, but sends nothing again: an acquisition that is granted twice would
 * be in its own way.
 */
final class RedisConnections implements AutoCloseable {

    private static final Log log = LogFactory.getLog(RedisConnections.class);

    /** The pauses before the driver connects again, at random up to so long. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private static final int THREADS = 2;

    /** So often it connects where the driver cannot tell why it failed. */
    private static final int ATTEMPTS = 10;

    /** How long a connection that is just being made is waited for when this is closed. */
    private static final long GRACE_MILLIS = 100;

    private final ClientResources resources;
    private final LettuceConnectionFactory factory;

    /** The attempt to connect that is under way or has worked; from then on the driver connects again by itself. */
    private final AtomicReference<@Nullable CompletableFuture<RedisScriptingAsyncCommands<byte[], byte[]>>> attempt =
            new AtomicReference<>();

    /** Who connects at this moment, and when that has ended. */
    private final Map<Thread, CompletableFuture<@Nullable Void>> connecting = new ConcurrentHashMap<>();

    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param application says where the server is, and how to get there
     */
    RedisConnections(LettuceConnectionFactory application, RedisSettings settings) {
        if (application.isClusterAware()) {
            settings.checkForCluster();
        }
        RedisConfiguration details = detailsOf(application);
        this.resources = DefaultClientResources.builder()
                .ioThreadPoolSize(THREADS)
                .computationThreadPoolSize(THREADS)
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        // In front of TLS, too.
                        channel.pipeline().addFirst(new RedisSilence(settings.timeout()));
                    }
                })
                .reconnectDelay(Delay.fullJitter(Duration.ofMillis(1), LONGEST_PAUSE, 10, TimeUnit.MILLISECONDS))
                .build();
        this.factory = new LettuceConnectionFactory(
                details, configuration(application.getClientConfiguration(), resources, settings.timeout()));
        factory.afterPropertiesSet();
        factory.start();
    }

    /**
     * What runs scripts. Connecting may take several timeouts, at a sentinel and at nodes of a cluster; so a thread of its own
     * connects, and callers wait for it no longer than so many milliseconds.
     */
    RedisScriptingAsyncCommands<byte[], byte[]> commands(long limit)
            throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<RedisScriptingAsyncCommands<byte[], byte[]>> mine = new CompletableFuture<>();
        CompletableFuture<RedisScriptingAsyncCommands<byte[], byte[]>> known = attempt.compareAndExchange(null, mine);
        if (known != null) {
            return known.get(limit, TimeUnit.MILLISECONDS);
        }
        Thread connector = new Thread(() -> connect(mine), "syncguard-connect");
        connector.setDaemon(true);
        connector.start();
        return mine.get(limit, TimeUnit.MILLISECONDS);
    }

    /** A new connection for wake-ups. */
    StatefulRedisPubSubConnection<String, String> subscriber() {
        return unlessClosed(() -> {
            AbstractRedisClient client = factory.getRequiredNativeClient();
            return client instanceof RedisClusterClient cluster
                    ? cluster.connectPubSub()
                    : ((RedisClient) client).connectPubSub();
        });
    }

    /** For what is asked once. */
    RedisConnection connection() {
        return factory.getConnection();
    }

    @Override
    public void close() {
        // Two that end the driver at once may wait for ever for what the other one has ended.
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        awaitConnecting();
        // The driver would never tell whoever still waits for a connection.
        connecting.keySet().forEach(Thread::interrupt);
        factory.destroy();
        resources.shutdown(0, 1, TimeUnit.SECONDS);
    }

    private void connect(CompletableFuture<RedisScriptingAsyncCommands<byte[], byte[]>> mine) {
        try {
            mine.complete(driver(unlessClosed(this::nativeConnection)));
        } catch (RuntimeException | Error ex) {
            // Whoever comes next tries again.
            attempt.set(null);
            mine.completeExceptionally(ex);
        }
    }

    private Object nativeConnection() {
        for (int attempt = 1; ; attempt++) {
            try {
                return factory.getConnection().getNativeConnection();
            } catch (RedisConnectionFailureException ex) {
                // The server refused, and the driver had closed the connection before this thread could look why.
                if (attempt == ATTEMPTS || !(ex.getMostSpecificCause() instanceof IllegalStateException)) {
                    throw ex;
                }
            }
        }
    }

    private <T> T unlessClosed(Supplier<T> connector) {
        CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
        connecting.put(Thread.currentThread(), ended);
        try {
            // Asked after the thread was made known: either close() finds it, or it finds that this is closed.
            if (closed.get()) {
                throw new RedisException("The connections are closed");
            }
            return connector.get();
        } finally {
            connecting.remove(Thread.currentThread());
            ended.complete(null);
        }
    }

    /** While the driver ends, it forgets a connection that has just begun, and that stays open. */
    private void awaitConnecting() {
        try {
            CompletableFuture.allOf(connecting.values().toArray(CompletableFuture[]::new))
                    .get(GRACE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException ex) {
            log.debug("Closed while connecting", ex);
        }
    }

    /** The same for one server, behind sentinels and in a cluster. */
    @SuppressWarnings("unchecked")
    private static RedisScriptingAsyncCommands<byte[], byte[]> driver(Object connection) {
        return (RedisScriptingAsyncCommands<byte[], byte[]>) connection;
    }

    private static RedisConfiguration detailsOf(LettuceConnectionFactory application) {
        if (application.getClusterConfiguration() != null) {
            return application.getClusterConfiguration();
        }
        if (application.getSentinelConfiguration() != null) {
            return application.getSentinelConfiguration();
        }
        if (application.getSocketConfiguration() != null) {
            return application.getSocketConfiguration();
        }
        RedisStandaloneConfiguration details = application.getStandaloneConfiguration();
        if (!isMadeFrom(details, application)) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The connection details of the LettuceConnectionFactory cannot be read: make it from a"
                            + " RedisStandaloneConfiguration, RedisSentinelConfiguration or RedisClusterConfiguration");
        }
        return details;
    }

    /**
     * A factory that was made from any other kind of configuration, such as static master and replicas, answers a default one,
     * which means localhost. Only its field tells.
     */
    private static boolean isMadeFrom(RedisStandaloneConfiguration details, LettuceConnectionFactory application) {
        return new DirectFieldAccessor(application).getPropertyValue("configuration") == details;
    }

    /** All but from where to read: a replica may not know of a grant yet. */
    private static LettuceClientConfiguration configuration(
            LettuceClientConfiguration application, ClientResources resources, Duration timeout) {
        LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder();
        if (application.isUseSsl()) {
            var ssl = builder.useSsl().verifyPeer(application.getVerifyMode());
            if (application.isStartTls()) {
                ssl.startTls();
            }
        }
        builder.redisCredentialsProviderFactory(
                application.getRedisCredentialsProviderFactory().orElseGet(RedisStaticCredentials::new));
        ClientOptions options = application.getClientOptions().orElseGet(ClientOptions::create);
        return builder.clientName(application.getClientName().orElse("syncguard"))
                .clientResources(resources)
                .clientOptions(options(options, timeout))
                .commandTimeout(timeout)
                .shutdownTimeout(Duration.ZERO)
                .build();
    }

    /** Always those of a cluster, which are good for one server as well; others are not heeded in a cluster. */
    private static ClientOptions options(ClientOptions application, Duration timeout) {
        ClusterClientOptions.Builder builder = application instanceof ClusterClientOptions cluster
                ? cluster.mutate()
                : ClusterClientOptions.builder(application);
        return builder.autoReconnect(true)
                // Also fails what is under way when the connection is lost: the driver would send it again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Whoever waits for an answer knows how long; the driver would keep a timer for each.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                .socketOptions(application
                        .getSocketOptions()
                        .mutate()
                        .connectTimeout(timeout)
                        // A server that went away without a word must not hold an idle connection for ever.
                        .keepAlive(KeepAliveOptions.builder()
                                .enable()
                                .idle(Duration.ofSeconds(5))
                                .interval(Duration.ofSeconds(2))
                                .count(3)
                                .build())
                        .build())
                .build();
    }
}
