package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.verification.StressStore;
import io.syncguard.verification.matrix.Call.Kind;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** Locks in one shard of a Redis Cluster of three masters; the master with the locks has a replica. */
final class RedisClusterSite implements Site {

    private static final String HASH_TAG = "syncguard";

    private final OwnRedisCluster cluster;
    private final List<OwnRedis> pair;
    private final ApplicationDatabase applications = ApplicationDatabase.create();
    private final LettuceConnectionFactory connections;

    RedisClusterSite() {
        this.cluster = new OwnRedisCluster("cluster-node-timeout 1000", "cluster-replica-validity-factor 0");
        OwnRedis master = cluster.nodes().stream()
                .filter(node -> cluster.serves(node, HASH_TAG))
                .findFirst()
                .orElseThrow();
        this.pair = List.of(master, cluster.addReplica(master));
        this.connections = cluster.connections();
        connections.afterPropertiesSet();
        connections.start();
    }

    /** The two nodes with the locks, in the order of their making. */
    List<OwnRedis> pair() {
        return pair;
    }

    @Override
    public String description() {
        return "Redis Cluster of three masters and a replica";
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=" + applications.url(),
                "spring.data.redis.cluster.nodes="
                        + cluster.nodes().stream()
                                .map(node -> "127.0.0.1:" + node.port())
                                .collect(Collectors.joining(",")),
                "syncguard.backend=redis",
                "syncguard.redis.network-timeout=" + NETWORK_TIMEOUT_MILLIS + "ms");
    }

    @Override
    public List<Kind> kinds() {
        return WITH_FENCE_GUARD;
    }

    @Override
    public JdbcTemplate applications() {
        return applications.jdbc();
    }

    @Override
    public StressStore store() {
        return StressStore.of(new StringRedisTemplate(connections));
    }

    @Override
    public long connections() {
        return pair.stream().mapToLong(RedisSite::connectionsOf).sum();
    }

    @Override
    public void close() throws IOException {
        connections.destroy();
        cluster.close();
    }
}
