package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnSentinel;
import io.syncguard.verification.StressStore;
import io.syncguard.verification.matrix.Call.Kind;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** Locks in a Redis with a replica, watched by a Sentinel. */
final class RedisSentinelSite implements Site {

    private final OwnRedis first = new OwnRedis();
    private final OwnRedis second = new OwnRedis("replicaof 127.0.0.1 " + first.port());
    private final OwnSentinel sentinel = new OwnSentinel(first, 1);
    private final LettuceConnectionFactory connections = sentinel.connections();
    private final ApplicationDatabase applications = ApplicationDatabase.create();

    RedisSentinelSite() {
        connections.afterPropertiesSet();
        connections.start();
    }

    Fault kill() {
        return Fault.of(22, "the master is killed, and Sentinel promotes its replica", this::kill)
                .everyNth(8);
    }

    private void kill(Random random) {
        OwnRedis master = sentinel.master() == first.port() ? first : second;
        OwnRedis replica = master == first ? second : first;
        master.kill();
        Awaitility.await("the failover").until(() -> sentinel.master() == replica.port());
        master.start();
        master.follow(replica);
        Awaitility.await("the replica")
                .ignoreExceptions()
                .until(() -> master.ask("replication").contains("master_link_status:up"));
        sentinel.awaitReplicas(1);
    }

    @Override
    public String description() {
        return "Redis with a replica and a Sentinel";
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=" + applications.url(),
                "spring.data.redis.sentinel.master=" + OwnSentinel.MASTER,
                "spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port(),
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
        return RedisSite.connectionsOf(first) + RedisSite.connectionsOf(second);
    }

    @Override
    public void close() {
        connections.destroy();
        sentinel.close();
        second.close();
        first.close();
    }
}
