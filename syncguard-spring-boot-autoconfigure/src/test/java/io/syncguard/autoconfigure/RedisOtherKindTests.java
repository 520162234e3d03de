package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.embedded.OwnSentinel;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What a person reads if the settings of one server, of sentinels or of a cluster lead to another one of these. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class RedisOtherKindTests {

    private static OwnRedis single;
    private static OwnRedisCluster cluster;
    private static OwnSentinel sentinel;

    private final String prefix = RedisServer.newPrefix();
    private final FailedStart start;

    RedisOtherKindTests(CapturedOutput output) {
        this.start = new FailedStart(output)
                .with(FailedStart.NO_DATA_SOURCE)
                .with("syncguard.redis.key-prefix=" + prefix + ":")
                .whereasMatches("127\\.0\\.0\\.1:\\d+", "127.0.0.1:6379")
                .whereasMatches("NOAUTH [^.]*", "NOAUTH <words>")
                .whereasMatches("WRONGPASS [^.]*", "WRONGPASS <words>");
    }

    @BeforeAll
    static void startServers() {
        single = new OwnRedis();
        cluster = new OwnRedisCluster();
        sentinel = new OwnSentinel(single, 0);
    }

    @AfterAll
    static void stopServers() {
        sentinel.close();
        cluster.close();
        single.close();
    }

    @Test
    void a_node_of_a_cluster_in_place_of_a_server() {
        start.with("spring.data.redis.url=" + otherNode().url()).reads("redis-is-cluster");
        start.with("spring.data.redis.url=" + otherNode().url() + "/1").reads("redis-is-cluster");
    }

    @Test
    void a_sentinel_in_place_of_a_server() {
        start.with("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + sentinel.port())
                .reads("redis-is-sentinel");
        start.with("spring.data.redis.database=1").reads("redis-is-sentinel");
    }

    @Test
    void a_server_in_place_of_a_sentinel() {
        ofSentinel(single.port()).reads("sentinel-is-redis");
    }

    @Test
    void a_node_of_a_cluster_in_place_of_a_sentinel() {
        ofSentinel(otherNode().port()).reads("sentinel-is-cluster");
    }

    @Test
    void a_server_in_place_of_a_cluster() {
        ofCluster(single.port()).reads("cluster-is-redis");
    }

    @Test
    void a_sentinel_in_place_of_a_cluster() {
        ofCluster(sentinel.port()).reads("cluster-is-sentinel");
    }

    @Test
    void a_master_that_the_sentinels_do_not_know() {
        ofSentinel(sentinel.port())
                .with("spring.data.redis.sentinel.master=mymaster")
                .reads("sentinel-other-master");
    }

    @Test
    void sentinels_that_want_a_password() {
        try (OwnSentinel secret = new OwnSentinel(single, 0)) {
            secret.setUser("default", "resetpass", ">sesame");
            // The sentinels do not use the password of the server.
            ofSentinel(secret.port()).with("spring.data.redis.password=sesame").reads("sentinel-password");
            start.with("spring.data.redis.sentinel.password=wrong").reads("sentinel-wrong-password");
        }
    }

    @Test
    void sentinels_that_want_a_user() {
        try (OwnSentinel secret = new OwnSentinel(single, 0)) {
            secret.setUser("boss", "on", ">sesame", "allchannels", "allcommands");
            secret.setUser("default", "off");
            ofSentinel(secret.port())
                    .with("spring.data.redis.sentinel.password=sesame")
                    .reads("sentinel-wrong-password");
        }
    }

    /** The node has the keys until the cluster is shared out again. */
    @Test
    void a_node_that_has_the_keys_today_is_a_warning() {
        OwnRedis node = cluster.nodes().stream()
                .filter(each -> cluster.serves(each, prefix))
                .findFirst()
                .orElseThrow();

        assertThat(warningsOf(RedisServer.connections(node.url()), 1))
                .contains("is a node of a cluster, but the settings are for a single Redis: locks fail when their keys"
                        + " move to another node. Set spring.data.redis.cluster.nodes");
    }

    @Test
    void a_cluster_that_stops_with_one_master_is_a_warning_for_shards() {
        assertThat(warningsOf(cluster.connections(), 3))
                .contains(
                        "With cluster-require-full-coverage yes, all shards are unavailable while one master is away");
    }

    @Test
    void a_cluster_whose_other_masters_go_on_is_none() {
        cluster.nodes().forEach(node -> node.commands().configSet("cluster-require-full-coverage", "no"));
        try {
            assertThat(warningsOf(cluster.connections(), 3)).isEmpty();
        } finally {
            cluster.nodes().forEach(node -> node.commands().configSet("cluster-require-full-coverage", "yes"));
        }
    }

    /** A real server accepts every client of this machine. */
    @Test
    void a_server_in_protected_mode() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            DaemonThreadFactory.named("protected")
                    .newThread(() -> refuse(server))
                    .start();
            start.with("spring.data.redis.url=redis://127.0.0.1:" + server.getLocalPort())
                    .reads("redis-protected");
        }
    }

    private static void refuse(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket client = server.accept()) {
                client.getOutputStream()
                        .write(("-DENIED Redis is running in protected mode because protected mode is enabled and no"
                                        + " password is set for the default user.\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                client.shutdownOutput();
                client.getInputStream().readAllBytes();
            } catch (IOException ex) {
                continue;
            }
        }
    }

    private String warningsOf(LettuceConnectionFactory application, int shards) {
        RedisSettings settings = new RedisSettings(
                prefix + ":",
                Duration.ofSeconds(20),
                RedisSettings.WAITER_TTL,
                shards,
                FenceSettings.from(FenceSource.CLOCK));
        try (CapturedLog log = new CapturedLog();
                RedisLockBackend backend = new RedisLockBackend(application, settings)) {
            backend.checkServer();
            return String.join("\n", log.messages());
        }
    }

    private FailedStart ofSentinel(int port) {
        return start.with(
                        "spring.data.redis.sentinel.nodes=127.0.0.1:" + port,
                        "spring.data.redis.sentinel.master=" + OwnSentinel.MASTER)
                .afterAWarning();
    }

    private FailedStart ofCluster(int port) {
        return start.with("spring.data.redis.cluster.nodes=127.0.0.1:" + port).afterAWarning();
    }

    /** One that does not serve the keys of this test. */
    private OwnRedis otherNode() {
        return cluster.nodes().stream()
                .filter(node -> !cluster.serves(node, prefix))
                .findFirst()
                .orElseThrow();
    }
}
