package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnSentinel;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What a running process reads of a server that has changed at its address: health and logs show these messages. */
@Timeout(120)
class RedisOtherServerTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final AcquireRequest request =
            Requests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(1), "test");

    private OwnRedis first;
    private RedisProxy address;

    @BeforeEach
    void startServer() {
        first = new OwnRedis();
        address = new RedisProxy(first.url());
    }

    @AfterEach
    void stopServer() {
        address.close();
        first.close();
    }

    @Test
    void it_uses_tls_now() throws Exception {
        try (TlsRedis second = new TlsRedis(first.port());
                StoreCalls backend = open(RedisServer.connections(address.url()))) {
            move(second.port(), backend);

            assertReads(backend, LockErrorCode.SERVICE_UNAVAILABLE, "TLS", "spring.data.redis.ssl.enabled=true");
        }
    }

    @Test
    void it_uses_tls_no_more() throws Exception {
        LettuceConnectionFactory encrypted = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration("127.0.0.1", port()),
                LettuceClientConfiguration.builder()
                        .useSsl()
                        .disablePeerVerification()
                        .build());
        try (TlsRedis tls = new TlsRedis(first.port());
                StoreCalls backend = open(encrypted)) {
            address.moveTo(tls.port());
            move(first.port(), backend);

            assertReads(backend, LockErrorCode.NETWORK_TIMEOUT, "TLS", "spring.data.redis.ssl.enabled=false");
        }
    }

    @Test
    void it_is_a_node_of_a_cluster_now() {
        try (OwnRedis second = new OwnRedis("cluster-enabled yes");
                StoreCalls backend = open(RedisServer.connections(address.url()))) {
            second.commands().clusterAddSlots(IntStream.range(0, 10).toArray());
            move(second.port(), backend);

            assertReads(
                    backend,
                    LockErrorCode.SERVICE_UNAVAILABLE,
                    "is a node of a cluster",
                    "spring.data.redis.cluster.nodes");
        }
    }

    @Test
    void it_is_a_replica_now() {
        try (OwnRedis second = new OwnRedis("replicaof 127.0.0.1 " + first.port());
                StoreCalls backend = open(RedisServer.connections(address.url()))) {
            Awaitility.await().until(() -> second.ask("replication").contains("master_link_status:up"));
            move(second.port(), backend);

            assertReads(
                    backend,
                    LockErrorCode.SERVICE_UNAVAILABLE,
                    "is a replica",
                    "spring.data.redis.url or spring.data.redis.host");
        }
    }

    @Test
    void it_wants_a_password_now() {
        try (OwnRedis second = new OwnRedis("requirepass secret");
                StoreCalls backend = open(RedisServer.connections(address.url()))) {
            move(second.port(), backend);

            assertReads(backend, LockErrorCode.AUTH_FAILED, "refuses the user", "spring.data.redis.password");
        }
    }

    @Test
    void an_address_that_only_the_application_maps_is_mapped_for_locks_too() {
        ClientResources resources = ClientResources.builder()
                .socketAddressResolver(MappingSocketAddressResolver.create((HostAndPort announced) ->
                        announced.getPort() == 1 ? HostAndPort.of("127.0.0.1", first.port()) : announced))
                .build();
        try (OwnSentinel sentinel = new OwnSentinel(first, 0, "sentinel monitor inner 127.0.0.9 1 1");
                StoreCalls mapped = open(new LettuceConnectionFactory(
                        inner(sentinel),
                        LettuceClientConfiguration.builder()
                                .clientResources(resources)
                                .build()));
                StoreCalls unmapped = open(new LettuceConnectionFactory(inner(sentinel)))) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() -> !mapped.isLocked("order:42"));
            assertReads(
                    unmapped,
                    LockErrorCode.SERVICE_UNAVAILABLE,
                    "name the master 127.0.0.9:1, which cannot be reached",
                    "MappingSocketAddressResolver");
        } finally {
            resources.shutdown();
        }
    }

    private static RedisSentinelConfiguration inner(OwnSentinel sentinel) {
        return new RedisSentinelConfiguration().master("inner").sentinel("127.0.0.1", sentinel.port());
    }

    private int port() {
        return Integer.parseInt(address.url().replaceFirst(".*:", ""));
    }

    /** Moves the address while the process is connected. */
    private void move(int port, StoreCalls backend) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> !backend.isLocked("order:42"));
        address.moveTo(port);
        address.cut();
    }

    private void assertReads(StoreCalls backend, LockErrorCode code, String what, String property) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            for (int i = 0; i < 20; i++) {
                Throwable failure = ThrowableAssert.catchThrowable(() -> backend.acquire(request));
                assertThat(failure)
                        .isInstanceOf(LockBackendException.class)
                        .hasMessageContainingAll("order:42", what, property);
                assertThat(((LockBackendException) failure).code()).isEqualTo(code);
            }
        });
    }

    private static StoreCalls open(LettuceConnectionFactory application) {
        return new StoreCalls(new RedisLockBackend(
                application, new RedisSettings(RedisSettings.KEY_PREFIX, TIMEOUT, RedisSettings.WAITER_TTL)));
    }
}
