package io.syncguard.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.util.Timer;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The driver, created from the connection details of the application's connection factory. Server, credentials, TLS,
 * name and client options come from the application; threads, timeouts and reconnection from the library.
 *
 * <p>The driver reconnects, but repeats no request: an acquire request that ran twice would be blocked by its own
 * lease.
 */
final class RedisDriver implements AutoCloseable {

    /** The longest pause before the driver reconnects. Each pause is random. */
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private static final int THREADS = 2;

    private final RedisEventLoops eventLoops = new RedisEventLoops(THREADS);
    private final ClientResources resources;
    private final LettuceConnectionFactory factory;
    private final RedisInquiry inquiry;
    private final RedisMistakes mistakes;
    private final RedisReconnects reconnects;

    /** Completes with the first socket. */
    private final CompletableFuture<@Nullable Void> opened = new CompletableFuture<>();

    /** The open channels. */
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private final RedisTarget target;

    /** {@code null} for a cluster, whose nodes name the master. */
    private final @Nullable RedisWrongServer wrongServer;

    /**
     * @param application has the connection details
     */
    RedisDriver(LettuceConnectionFactory application, RedisSettings settings, String applicationName) {
        this(new RedisApplication(() -> application), settings, applicationName);
    }

    RedisDriver(RedisApplication application, RedisSettings settings, String applicationName) {
        RedisConfiguration details = application.details();
        this.target = application.servers();
        this.mistakes = new RedisMistakes(target);
        this.reconnects = new RedisReconnects(mistakes);
        boolean cluster = RedisConfiguration.isClusterConfiguration(details);
        if (cluster) {
            settings.checkForCluster();
        }
        RedisWrongServer left = cluster ? null : new RedisWrongServer(Time.SYSTEM);
        this.wrongServer = left;
        Optional<ClientResources> theirs = application.client().getClientResources();
        DefaultClientResources.Builder builder = DefaultClientResources.builder();
        // These beans decide where host names lead to.
        theirs.ifPresent(each -> builder.socketAddressResolver(each.socketAddressResolver())
                .addressResolverGroup(each.addressResolverGroup()));
        this.resources = builder.eventLoopGroupProvider(eventLoops)
                .computationThreadPoolSize(THREADS)
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterBootstrapInitialized(Bootstrap bootstrap) {
                        application.customizer().afterBootstrapInitialized(bootstrap);
                    }

                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        // It may add encryption.
                        application.customizer().afterChannelInitialized(channel);
                        // First in the pipeline, so that it sees the bytes before TLS.
                        channel.pipeline().addFirst(new RedisReadTimeout(settings.timeout(), Time.SYSTEM));
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
        LettuceClientConfiguration client = configuration(application, resources, settings.timeout(), applicationName);
        this.inquiry = new RedisInquiry(target, client);
        this.factory = new LettuceConnectionFactory(details, client);
        factory.afterPropertiesSet();
        factory.start();
    }

    /** The name of the server for messages, such as {@code Redis at 127.0.0.1:6379}. */
    String server() {
        return target.name();
    }

    LettuceConnectionFactory factory() {
        return factory;
    }

    /** Closes all connections. The next request opens one. */
    void disconnect() {
        factory.stop();
        factory.start();
    }

    RedisReconnects reconnects() {
        return reconnects;
    }

    /**
     * Completes when the driver has opened its first socket. By then, a new JVM has loaded most of the driver's
     * classes.
     */
    CompletableFuture<@Nullable Void> opened() {
        return opened;
    }

    /** Reports a failed request. Closes the connections if the server answered that it is not the master. */
    void failed(Throwable error) {
        if (wrongServer != null && wrongServer.leaveAfter(error)) {
            reconnects.failed(error);
        }
    }

    /** Explains why there is no first connection. May ask the servers what they are. */
    Throwable explained(Throwable error) {
        Throwable explained = inquiry.explained(error, mistakes, factory);
        reconnects.failed(explained);
        return explained;
    }

    /** Returns the timer, whose thread runs already. */
    Timer timer() {
        return resources.timer();
    }

    /** Registers a new connection. */
    private void opened(Channel channel) {
        channels.add(channel);
        channel.closeFuture().addListener(any -> channels.remove(channel));
        // Read the flag after adding the channel: either close() finds the channel, or this thread sees the flag.
        if (closed) {
            channel.close();
        }
        opened.complete(null);
    }

    /**
     * Closes connections that have just begun: the driver does not know them yet, and an event loop may leave them open
     * when it ends.
     */
    private void closeUnfinished() {
        closed = true;
        channels.stream().filter(channel -> !channel.isActive()).forEach(Channel::close);
    }

    @Override
    public void close() {
        Shielded.closeAll(
                this::closeUnfinished,
                factory::destroy,
                () -> resources.shutdown(0, 1, TimeUnit.SECONDS),
                () -> eventLoops.shutdown(0, 1, TimeUnit.SECONDS));
    }

    /** Redis allows neither blanks nor non-ASCII characters in the name of a client. */
    private static String name(String application) {
        return application.isBlank() ? "syncguard" : "syncguard-" + application.replaceAll("[^!-~]", "-");
    }

    /** Leaves out the pool, and the read preference: a replica may lack the latest grants. */
    private static LettuceClientConfiguration configuration(
            RedisApplication source, ClientResources resources, Duration timeout, String applicationName) {
        LettuceClientConfiguration application = source.client();
        ClientOptions options = application.getClientOptions().orElseGet(ClientOptions::create);
        LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder();
        if (application.isUseSsl()) {
            var ssl = builder.useSsl().verifyPeer(application.getVerifyMode());
            if (application.isStartTls()) {
                ssl.startTls();
            }
        }
        builder.redisCredentialsProviderFactory(new RedisConfiguredCredentials(source));
        return builder.clientName(name(application.getClientName().orElse(applicationName)))
                .clientResources(resources)
                .clientOptions(RedisClientOptions.of(
                        options.mutate().sslOptions(source.tls()).build(), timeout))
                .commandTimeout(timeout)
                .shutdownTimeout(Duration.ZERO)
                .build();
    }
}
