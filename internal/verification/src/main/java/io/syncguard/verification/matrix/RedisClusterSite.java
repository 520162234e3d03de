package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/** Locks in one shard of a Redis Cluster of three masters; the master with the locks has a replica. */
final class RedisClusterSite implements LocksInRedis {

    private static final String HASH_TAG = "syncguard";

    private final OwnRedisCluster cluster;
    private final List<OwnRedis> pair;
    private final Access access;

    RedisClusterSite() {
        this.cluster = new OwnRedisCluster("cluster-node-timeout 1000", "cluster-replica-validity-factor 0");
        OwnRedis master = cluster.nodes().stream()
                .filter(node -> cluster.serves(node, HASH_TAG))
                .findFirst()
                .orElseThrow();
        this.pair = List.of(master, cluster.addReplica(master));
        this.access = Access.by(cluster.connections());
    }

    /** The two nodes with the locks, in the order of their creation. */
    List<OwnRedis> pair() {
        return pair;
    }

    @Override
    public String description() {
        return "Redis Cluster of three masters and a replica";
    }

    @Override
    public Access access() {
        return access;
    }

    @Override
    public List<String> address(int process) {
        return List.of("spring.data.redis.cluster.nodes="
                + cluster.nodes().stream()
                        .map(node -> "127.0.0.1:" + node.port())
                        .collect(Collectors.joining(",")));
    }

    @Override
    public List<OwnRedis> servers() {
        return pair;
    }

    @Override
    public void close() throws IOException {
        access.close();
        cluster.close();
    }
}
