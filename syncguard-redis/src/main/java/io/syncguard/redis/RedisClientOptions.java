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
 * The options of the driver. Protocol, TLS and topology of a cluster come from the application. This class sets all
 * options that locks depend on: the versions of the driver have different defaults, and an application may have chosen
 * other values for its own commands.
 */
final class RedisClientOptions {

    /**
     * The shortest time between two topology refreshes: each asks all nodes, and the first one may run before the
     * failover is over.
     */
    private static final Duration REFRESH_PAUSE = Duration.ofSeconds(1);

    private RedisClientOptions() {}

    /** Always returns options for a cluster: they also work for one server, and a cluster ignores other options. */
    static ClusterClientOptions of(ClientOptions application, Duration timeout) {
        ClusterClientOptions.Builder builder = application instanceof ClusterClientOptions cluster
                ? cluster.mutate()
                        // While slots move, one request follows several redirects.
                        .maxRedirects(Math.max(cluster.getMaxRedirects(), ClusterClientOptions.DEFAULT_MAX_REDIRECTS))
                        .topologyRefreshOptions(refresh(cluster.getTopologyRefreshOptions()))
                : ClusterClientOptions.builder(application)
                        .topologyRefreshOptions(refresh(ClusterTopologyRefreshOptions.create()));
        ClientOptions defaults = ClientOptions.create();
        builder.replayFilter(defaults.getReplayFilter()).useHashIndexQueue(true);
        return builder.autoReconnect(true)
                .decodeBufferPolicy(defaults.getDecodeBufferPolicy())
                .pingBeforeActivateConnection(true)
                .suspendReconnectOnProtocolFailure(false)
                // Also fails pending requests when the connection is lost. Otherwise the driver would send them again.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // A limit would also fail heartbeats and releases. Callers have limits of their own.
                .requestQueueSize(Integer.MAX_VALUE)
                .publishOnScheduler(false)
                // The digests of the scripts are those of their bytes in UTF-8.
                .scriptCharset(StandardCharsets.UTF_8)
                // The new master after a failover may be a node that was unknown before.
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
                // Detects on an idle connection that the server has disappeared without closing it.
                .keepAlive(KeepAliveOptions.builder()
                        .enable()
                        .idle(Duration.ofSeconds(5))
                        .interval(Duration.ofSeconds(2))
                        .count(3)
                        .build())
                .build();
    }

    /**
     * Refreshes the topology at the first sign of a change. Lettuce 7 does so by default, and deprecates the option;
     * Lettuce 6 does not.
     */
    @SuppressWarnings("deprecation")
    private static ClusterTopologyRefreshOptions refresh(ClusterTopologyRefreshOptions application) {
        return ClusterTopologyRefreshOptions.builder()
                .enableAllAdaptiveRefreshTriggers()
                .adaptiveRefreshTriggersTimeout(REFRESH_PAUSE)
                .refreshTriggersReconnectAttempts(1)
                .closeStaleConnections(true)
                .dynamicRefreshSources(application.useDynamicRefreshSources())
                .enablePeriodicRefresh(application.isPeriodicRefreshEnabled())
                .refreshPeriod(application.getRefreshPeriod())
                .build();
    }
}
