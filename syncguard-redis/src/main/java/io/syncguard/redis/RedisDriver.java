package io.syncguard.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.util.Timer;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The driver, made from the connection details of the application's connection factory. Server, credentials, TLS, name
 * and client options are the application's; threads, timeouts and reconnection are the library's.
 *
 * <p>It reconnects, but repeats no request: an acquire request that ran twice would find its own lease in the way.
 */
final class RedisDriver implements AutoCloseable {

    /** The longest pause before it reconnects. Each pause is random. */
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private static final int THREADS = 2;

    private final RedisEventLoops eventLoops = new RedisEventLoops(THREADS);
    private final ClientResources resources;
    private final LettuceConnectionFactory factory;
    private final RedisReconnects reconnects = new RedisReconnects();

    /** Done with the first socket. */
    private final CompletableFuture<@Nullable Void> opened = new CompletableFuture<>();

    /** The open ones. */
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private final String server;

    /** {@code null} for a cluster, whose nodes name the master. */
    private final @Nullable RedisWrongServer wrongServer;

    /**
     * @param application has the connection details
     */
    RedisDriver(LettuceConnectionFactory application, RedisSettings settings, String applicationName) {
        RedisConfiguration details = detailsOf(application);
        this.server = describe(details);
        boolean cluster = RedisConfiguration.isClusterConfiguration(details);
        if (cluster) {
            settings.checkForCluster();
        }
        RedisWrongServer left = cluster ? null : new RedisWrongServer(Time.SYSTEM);
        this.wrongServer = left;
        this.resources = DefaultClientResources.builder()
                .eventLoopGroupProvider(eventLoops)
                .computationThreadPoolSize(THREADS)
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        // First in the pipeline, so it sees the bytes in front of TLS.
                        channel.pipeline().addFirst(new RedisSilence(settings.timeout(), Time.SYSTEM));
                        if (left != null) {
                            left.opened(channel);
                        }
                        opened(channel);
                    }
                })
                .reconnectDelay(Delay.fullJitter(Duration.ofMillis(1), LONGEST_PAUSE, 10, TimeUnit.MILLISECONDS))
                .build();
        resources.eventBus().get().subscribe(reconnects::accept);
        RedisEventLoops.startThreads(resources.eventExecutorGroup());
        // The timer starts its thread with its first task.
        resources.timer().newTimeout(nothing -> {}, 1, TimeUnit.MILLISECONDS);
        this.factory = new LettuceConnectionFactory(
                details,
                configuration(application.getClientConfiguration(), resources, settings.timeout(), applicationName));
        factory.afterPropertiesSet();
        factory.start();
    }

    /** For messages, such as {@code Redis at 127.0.0.1:6379}. */
    String server() {
        return server;
    }

    LettuceConnectionFactory factory() {
        return factory;
    }

    RedisReconnects reconnects() {
        return reconnects;
    }

    /** Done when the driver has opened its first socket: then a new JVM has loaded most of its classes. */
    CompletableFuture<@Nullable Void> opened() {
        return opened;
    }

    /** A request failed. Leaves the server if it says that it is not the master. */
    void failed(Throwable error) {
        if (wrongServer != null) {
            wrongServer.leaveAfter(error);
        }
    }

    /** Its thread runs already. */
    Timer timer() {
        return resources.timer();
    }

    /** A connection begins. */
    private void opened(Channel channel) {
        channels.add(channel);
        channel.closeFuture().addListener(any -> channels.remove(channel));
        // Read after it was added: either close() finds it, or this thread sees the flag.
        if (closed) {
            channel.close();
        }
        opened.complete(null);
    }

    /**
     * Closes connections that have just begun: the driver does not know them yet, and an event loop that ends may leave
     * them open.
     */
    private void closeThoseThatBegin() {
        closed = true;
        channels.stream().filter(channel -> !channel.isActive()).forEach(Channel::close);
    }

    @Override
    public void close() {
        Shielded.closeAll(
                this::closeThoseThatBegin,
                factory::destroy,
                () -> resources.shutdown(0, 1, TimeUnit.SECONDS),
                () -> eventLoops.shutdown(0, 1, TimeUnit.SECONDS));
    }

    /**
     * From its field: its getters return a default one with localhost for any that its constructor does not know, such
     * as static master and replicas.
     */
    private static RedisConfiguration detailsOf(LettuceConnectionFactory application) {
        Object details = new DirectFieldAccessor(application).getPropertyValue("configuration");
        if (!(details instanceof RedisConfiguration readable)
                || RedisConfiguration.isStaticMasterReplicaConfiguration(readable)) {
            throw LockSetupException.invalid(
                    "The connection details of the LettuceConnectionFactory cannot be read: "
                            + (details == null
                                    ? "it is a mock, or a proxy that hides its target"
                                    : "it is made from a " + details.getClass().getSimpleName()),
                    "Make it from a RedisStandaloneConfiguration, RedisSentinelConfiguration or"
                            + " RedisClusterConfiguration");
        }
        return readable;
    }

    /** Redis allows neither blanks nor characters beyond ASCII in it. */
    private static String name(String application) {
        return application.isBlank() ? "syncguard" : "syncguard-" + application.replaceAll("[^!-~]", "-");
    }

    private static String describe(RedisConfiguration details) {
        if (details instanceof RedisConfiguration.SentinelConfiguration sentinels) {
            return "Redis of the sentinels " + listed(sentinels.getSentinels());
        }
        if (details instanceof RedisConfiguration.ClusterConfiguration cluster) {
            return "Redis at " + listed(cluster.getClusterNodes());
        }
        return details instanceof RedisConfiguration.WithDomainSocket socket
                ? "Redis at " + socket.getSocket()
                : "Redis at " + RedisConfiguration.getHostOrElse(details, () -> "localhost") + ":"
                        + RedisConfiguration.getPortOrElse(details, () -> 6379);
    }

    private static String listed(Set<RedisNode> nodes) {
        return nodes.stream().map(RedisNode::asString).sorted().collect(Collectors.joining(", "));
    }

    /** Without the pool, and without the read preference: a replica may not have a grant yet. */
    private static LettuceClientConfiguration configuration(
            LettuceClientConfiguration application,
            ClientResources resources,
            Duration timeout,
            String applicationName) {
        LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder();
        if (application.isUseSsl()) {
            var ssl = builder.useSsl().verifyPeer(application.getVerifyMode());
            if (application.isStartTls()) {
                ssl.startTls();
            }
        }
        builder.redisCredentialsProviderFactory(
                application.getRedisCredentialsProviderFactory().orElseGet(RedisConfiguredCredentials::new));
        return builder.clientName(name(application.getClientName().orElse(applicationName)))
                .clientResources(resources)
                .clientOptions(
                        RedisClientOptions.of(application.getClientOptions().orElseGet(ClientOptions::create), timeout))
                .commandTimeout(timeout)
                .shutdownTimeout(Duration.ZERO)
                .build();
    }
}
