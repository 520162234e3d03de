package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What an application chose for its own commands, and what a version of the driver chooses, changes no lock. */
class RedisClientOptionsTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private static final ClusterClientOptions UNSUITABLE = ClusterClientOptions.builder()
            .autoReconnect(false)
            .pingBeforeActivateConnection(false)
            .suspendReconnectOnProtocolFailure(true)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
            .requestQueueSize(1)
            .publishOnScheduler(true)
            .scriptCharset(StandardCharsets.UTF_16)
            .validateClusterNodeMembership(true)
            .timeoutOptions(TimeoutOptions.enabled(Duration.ofNanos(1)))
            .socketOptions(SocketOptions.builder()
                    .connectTimeout(Duration.ofMinutes(1))
                    .tcpNoDelay(false)
                    .keepAlive(false)
                    .build())
            .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                    .refreshTriggersReconnectAttempts(100)
                    .adaptiveRefreshTriggersTimeout(Duration.ofMinutes(1))
                    .closeStaleConnections(false)
                    .build())
            .build();

    @Test
    void what_locks_rest_on_does_not_depend_on_the_application() {
        assertThat(RedisClientOptions.of(UNSUITABLE, TIMEOUT))
                .usingRecursiveComparison()
                .isEqualTo(RedisClientOptions.of(ClientOptions.create(), TIMEOUT));
    }

    @Test
    void protocol_and_shape_of_the_cluster_are_those_of_the_application() {
        ClusterClientOptions options = RedisClientOptions.of(
                ClusterClientOptions.builder()
                        .protocolVersion(ProtocolVersion.RESP2)
                        .maxRedirects(9)
                        .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                                .dynamicRefreshSources(false)
                                .enablePeriodicRefresh(Duration.ofSeconds(7))
                                .build())
                        .build(),
                TIMEOUT);

        assertThat(options.getProtocolVersion()).isEqualTo(ProtocolVersion.RESP2);
        assertThat(options.getMaxRedirects()).isEqualTo(9);
        assertThat(options.getTopologyRefreshOptions().useDynamicRefreshSources())
                .isFalse();
        assertThat(options.getTopologyRefreshOptions().isPeriodicRefreshEnabled())
                .isTrue();
        assertThat(options.getTopologyRefreshOptions().getRefreshPeriod()).isEqualTo(Duration.ofSeconds(7));
    }
}
