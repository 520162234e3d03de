package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.KillArgs;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.DecodeBufferPolicies;
import io.lettuce.core.protocol.ProtocolVersion;
import io.syncguard.embedded.OwnRedis;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What an application chose for its own commands, and what a version of the driver chooses, changes no lock. */
class RedisClientOptionsTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private static final ClusterClientOptions UNSUITABLE = ClusterClientOptions.builder()
            .autoReconnect(false)
            .pingBeforeActivateConnection(false)
            .suspendReconnectOnProtocolFailure(true)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
            .requestQueueSize(1)
            .decodeBufferPolicy(DecodeBufferPolicies.always())
            .maxRedirects(0)
            .publishOnScheduler(true)
            .scriptCharset(StandardCharsets.UTF_16)
            .validateClusterNodeMembership(true)
            .timeoutOptions(TimeoutOptions.enabled(Duration.ofNanos(1)))
            .socketOptions(SocketOptions.builder()
                    .connectTimeout(Duration.ofMinutes(1))
                    .tcpNoDelay(false)
                    .keepAlive(false)
                    .tcpUserTimeout(SocketOptions.TcpUserTimeoutOptions.builder()
                            .enable()
                            .tcpUserTimeout(Duration.ofMillis(1))
                            .build())
                    .build())
            .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                    .refreshTriggersReconnectAttempts(100)
                    .adaptiveRefreshTriggersTimeout(Duration.ofMinutes(1))
                    .closeStaleConnections(false)
                    .build())
            .build();

    /** The server refuses the user at the first attempt to reconnect, and later not. */
    @Test
    void locks_come_back_with_the_options_of_an_application_that_gives_up() {
        LettuceClientConfiguration application = LettuceClientConfiguration.builder()
                .clientOptions(UNSUITABLE)
                .commandTimeout(Duration.ofMillis(1))
                .readFrom(ReadFrom.REPLICA)
                .build();
        try (OwnRedis redis = new OwnRedis()) {
            AclSetuserArgs shop = AclSetuserArgs.Builder.on()
                    .addPassword("right")
                    .allKeys()
                    .allChannels()
                    .allCommands();
            redis.commands().aclSetuser("shop", shop);
            RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
            server.setUsername("shop");
            server.setPassword("right");
            RedisSettings settings = new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL);
            try (RedisLockBackend backend =
                    new RedisLockBackend(new LettuceConnectionFactory(server, application), settings)) {
                assertThat(IntStream.range(0, 64)
                                .parallel()
                                .mapToObj(i -> backend.directory().isLocked("order:" + i)))
                        .containsOnly(false);

                redis.commands().aclSetuser("shop", AclSetuserArgs.Builder.off());
                redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
                await().until(() -> !redis.commands().aclLog().isEmpty());
                redis.commands().aclSetuser("shop", AclSetuserArgs.Builder.on());

                await().ignoreExceptions().until(() -> !backend.directory().isLocked("order:1"));
            }
        }
    }

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
