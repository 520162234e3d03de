package io.syncguard.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisException;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.syncguard.LockSetupException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.ReflectionUtils;

/**
 * The connection factory of the application, which it may replace while it runs. User, password, TLS options and the
 * Netty customizer follow it; the server, and whether there is TLS, are those of the start. Thread-safe.
 */
final class RedisApplication {

    private static final Log log = LogFactory.getLog(RedisApplication.class);

    private static final NettyCustomizer NOTHING = new NettyCustomizer() {};

    /** A subclass that overrides one of these may connect with more than the details show, such as with TLS. */
    private static final Set<String> WAYS_TO_CONNECT =
            Set.of("createClient", "doCreateConnectionProvider", "getConnection", "getClusterConnection");

    private final Supplier<LettuceConnectionFactory> factories;
    private final RedisConfiguration details;
    private final LettuceClientConfiguration client;
    private final String target;
    private final RedisTls tls;

    /** The TLS options of the latest connection. */
    private volatile @Nullable SslOptions latestTls;

    private final AtomicBoolean warned = new AtomicBoolean();

    /** @param factories returns the factory that the application has at that moment */
    RedisApplication(Supplier<LettuceConnectionFactory> factories) {
        LettuceConnectionFactory factory = factories.get();
        this.factories = factories;
        this.tls = new RedisTls(this::nextTls);
        this.details = detailsOf(factory);
        this.client = factory.getClientConfiguration();
        this.target = targetOf(details, client);
        requireOwnWay(factory.getClass());
    }

    /** The details at the start. */
    RedisConfiguration details() {
        return details;
    }

    /** The client's configuration at the start. */
    LettuceClientConfiguration client() {
        return client;
    }

    /**
     * Returns the details that have user and password for the next connection.
     *
     * @throws RedisException if they belong to another server, or to a connection with other TLS
     */
    RedisConfiguration current() {
        LettuceConnectionFactory factory = factories.get();
        RedisConfiguration now = detailsOf(factory);
        String nowTarget = targetOf(now, factory.getClientConfiguration());
        if (target.equals(nowTarget)) {
            requireLatestTls(factory);
            return now;
        }
        String reason = "The LettuceConnectionFactory now leads to " + nowTarget + ", and at the start it led to "
                + target + ": restart the application to move its locks";
        if (warned.compareAndSet(false, true)) {
            log.warn(reason);
        }
        throw new RedisException(reason);
    }

    /** Returns the provider that the application has at that moment; {@code null} if it has none. */
    @Nullable
    RedisCredentialsProviderFactory credentials() {
        return factories
                .get()
                .getClientConfiguration()
                .getRedisCredentialsProviderFactory()
                .orElse(null);
    }

    /** The TLS options that the application has at the moment of each connection. */
    SslOptions tls() {
        return tls;
    }

    /** Returns what the application adds to a connection at that moment. */
    NettyCustomizer customizer() {
        return factories
                .get()
                .getClientConfiguration()
                .getClientResources()
                .map(ClientResources::nettyCustomizer)
                .orElse(NOTHING);
    }

    private SslOptions nextTls() {
        SslOptions next = tlsOf(factories.get());
        latestTls = next;
        return next;
    }

    /** A factory may be replaced between the start of a connection and its password, which is not for that server. */
    private void requireLatestTls(LettuceConnectionFactory factory) {
        if (factory.isUseSsl() && latestTls != tlsOf(factory)) {
            throw new RedisException("The LettuceConnectionFactory was replaced while a connection was being opened");
        }
    }

    private static SslOptions tlsOf(LettuceConnectionFactory factory) {
        return factory.getClientConfiguration()
                .getClientOptions()
                .map(ClientOptions::getSslOptions)
                .orElse(ClientOptions.DEFAULT_SSL_OPTIONS);
    }

    /** The servers at the start. */
    RedisTarget servers() {
        return new RedisTarget(describe(details), kindOf(details), nodesOf(details), client.isUseSsl());
    }

    /**
     * Reads the field. The getters return a default with localhost for details of a kind that they do not know, such as
     * static master and replicas.
     */
    private static RedisConfiguration detailsOf(LettuceConnectionFactory factory) {
        Object details = new DirectFieldAccessor(factory).getPropertyValue("configuration");
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

    private static void requireOwnWay(Class<?> type) {
        for (Class<?> each = type; each != LettuceConnectionFactory.class; each = each.getSuperclass()) {
            Stream.of(ReflectionUtils.getDeclaredMethods(each))
                    .filter(method -> !method.isSynthetic() && WAYS_TO_CONNECT.contains(method.getName()))
                    .findAny()
                    .ifPresent(method -> {
                        throw LockSetupException.invalid(
                                "The class " + type.getName() + " connects in a way of its own: it overrides "
                                        + method.getName()
                                        + ", and SyncGuard cannot do the same for its own connections",
                                "Configure a LettuceConnectionFactory by its LettuceClientConfiguration and its"
                                        + " ClientResources",
                                "Declare one for locks alone, with @Bean(defaultCandidate = false) and"
                                        + " @SyncGuardRedisConnectionFactory");
                    });
        }
    }

    private static String targetOf(RedisConfiguration details, LettuceClientConfiguration client) {
        return describe(details) + ", database " + RedisConfiguration.getDatabaseOrElse(details, () -> 0)
                + (client.isUseSsl()
                        ? ", with TLS (verification " + client.getVerifyMode()
                                + (client.isStartTls() ? ", StartTLS)" : ")")
                        : ", without TLS");
    }

    private static RedisTarget.Kind kindOf(RedisConfiguration details) {
        if (RedisConfiguration.isSentinelConfiguration(details)) {
            return RedisTarget.Kind.SENTINEL;
        }
        return RedisConfiguration.isClusterConfiguration(details) ? RedisTarget.Kind.CLUSTER : RedisTarget.Kind.SERVER;
    }

    private static List<RedisNode> nodesOf(RedisConfiguration details) {
        if (details instanceof RedisConfiguration.SentinelConfiguration sentinels) {
            return List.copyOf(sentinels.getSentinels());
        }
        if (details instanceof RedisConfiguration.ClusterConfiguration cluster) {
            return List.copyOf(cluster.getClusterNodes());
        }
        return details instanceof RedisConfiguration.WithHostAndPort server
                ? List.of(new RedisNode(server.getHostName(), server.getPort()))
                : List.of();
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
}
