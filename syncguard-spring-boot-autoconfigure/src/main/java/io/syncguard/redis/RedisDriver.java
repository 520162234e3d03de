package io.syncguard.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
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

    /**
     * @param application has the connection details
     */
    RedisDriver(LettuceConnectionFactory application, RedisSettings settings) {
        if (application.isClusterAware()) {
            settings.checkForCluster();
        }
        RedisConfiguration details = detailsOf(application);
        this.resources = DefaultClientResources.builder()
                .eventLoopGroupProvider(eventLoops)
                .computationThreadPoolSize(THREADS)
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        // First in the pipeline, so it sees the bytes in front of TLS.
                        channel.pipeline().addFirst(new RedisSilence(settings.timeout(), Time.SYSTEM));
                    }
                })
                .reconnectDelay(Delay.fullJitter(Duration.ofMillis(1), LONGEST_PAUSE, 10, TimeUnit.MILLISECONDS))
                .build();
        RedisEventLoops.startThreads(resources.eventExecutorGroup());
        // The timer starts its thread with its first task.
        resources.timer().newTimeout(nothing -> {}, 1, TimeUnit.MILLISECONDS);
        this.factory = new LettuceConnectionFactory(
                details, configuration(application.getClientConfiguration(), resources, settings.timeout()));
        factory.afterPropertiesSet();
        factory.start();
    }

    LettuceConnectionFactory factory() {
        return factory;
    }

    @Override
    public void close() {
        Shielded.closeAll(
                factory::destroy,
                () -> resources.shutdown(0, 1, TimeUnit.SECONDS),
                () -> eventLoops.shutdown(0, 1, TimeUnit.SECONDS));
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
            throw LockSetupException.invalid(
                    "The connection details of the LettuceConnectionFactory cannot be read",
                    "Make it from a RedisStandaloneConfiguration, RedisSentinelConfiguration or"
                            + " RedisClusterConfiguration");
        }
        return details;
    }

    /**
     * A factory with any other kind of configuration, such as static master and replicas, returns a default one with
     * localhost. Only its field shows the difference.
     */
    private static boolean isMadeFrom(RedisStandaloneConfiguration details, LettuceConnectionFactory application) {
        return new DirectFieldAccessor(application).getPropertyValue("configuration") == details;
    }

    /** Without the pool, and without the read preference: a replica may not have a grant yet. */
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

    /** Always the options of a cluster: they also work for one server, and a cluster ignores others. */
    private static ClientOptions options(ClientOptions application, Duration timeout) {
        ClusterClientOptions.Builder builder = application instanceof ClusterClientOptions cluster
                ? cluster.mutate()
                : ClusterClientOptions.builder(application);
        return builder.autoReconnect(true)
                // Also fails pending requests when the connection is lost: the driver would send them again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Each caller limits its own wait. The driver would start a timer for each request.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                .socketOptions(application
                        .getSocketOptions()
                        .mutate()
                        .connectTimeout(timeout)
                        // Detects that the server of an idle connection has gone without closing it.
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
