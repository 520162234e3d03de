package io.syncguard.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The options of the driver. Protocol, TLS and what concerns the shape of a cluster are the application's. All that
 * locks rest on is set here: the driver's versions have different defaults, and an application may have chosen others
 * for its own commands.
 */
final class RedisClientOptions {

    /**
     * The shortest time between two searches for the masters of a cluster: each asks all nodes, and the first one may
     * come before the failover is over.
     */
    private static final Duration SEARCH_PAUSE = Duration.ofSeconds(1);

    private RedisClientOptions() {}

    /** Always the options of a cluster: they also work for one server, and a cluster ignores others. */
    static ClusterClientOptions of(ClientOptions application, Duration timeout) {
        ClusterClientOptions.Builder builder = application instanceof ClusterClientOptions cluster
                ? cluster.mutate()
                        // While slots move, one request follows several redirects.
                        .maxRedirects(Math.max(cluster.getMaxRedirects(), ClusterClientOptions.DEFAULT_MAX_REDIRECTS))
                        .topologyRefreshOptions(search(cluster.getTopologyRefreshOptions()))
                : ClusterClientOptions.builder(application)
                        .topologyRefreshOptions(search(ClusterTopologyRefreshOptions.create()));
        ClientOptions defaults = ClientOptions.create();
        builder.replayFilter(defaults.getReplayFilter()).useHashIndexQueue(true);
        return builder.autoReconnect(true)
                .decodeBufferPolicy(defaults.getDecodeBufferPolicy())
                .pingBeforeActivateConnection(true)
                .suspendReconnectOnProtocolFailure(false)
                // Also fails pending requests when the connection is lost: the driver would send them again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // A limit would also fail heartbeats and releases. Callers have limits of their own.
                .requestQueueSize(Integer.MAX_VALUE)
                .publishOnScheduler(false)
                // The digests of the scripts are those of their bytes in UTF-8.
                .scriptCharset(StandardCharsets.UTF_8)
                // A master that took over may be a node that was not known before.
                .validateClusterNodeMembership(false)
                // Each caller limits its own wait. The driver would start a timer for each request.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                .socketOptions(socket(timeout))
                .build();
    }

    private static SocketOptions socket(Duration timeout) {
        return SocketOptions.builder()
                .connectTimeout(timeout)
                .tcpNoDelay(true)
                // Detects that the server of an idle connection has gone without closing it.
                .keepAlive(KeepAliveOptions.builder()
                        .enable()
                        .idle(Duration.ofSeconds(5))
                        .interval(Duration.ofSeconds(2))
                        .count(3)
                        .build())
                .build();
    }

    /**
     * The driver asks the nodes for the masters at the first sign that they have changed. Lettuce 7 does so by default,
     * and deprecates the choice; Lettuce 6 does not.
     */
    @SuppressWarnings("deprecation")
    private static ClusterTopologyRefreshOptions search(ClusterTopologyRefreshOptions application) {
        return ClusterTopologyRefreshOptions.builder()
                .enableAllAdaptiveRefreshTriggers()
                .adaptiveRefreshTriggersTimeout(SEARCH_PAUSE)
                .refreshTriggersReconnectAttempts(1)
                .closeStaleConnections(true)
                .dynamicRefreshSources(application.useDynamicRefreshSources())
                .enablePeriodicRefresh(application.isPeriodicRefreshEnabled())
                .refreshPeriod(application.getRefreshPeriod())
                .build();
    }
}
