package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnSentinel;
import io.syncguard.verification.recording.StressStore;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Locks in a Redis with a replica, watched by a Sentinel. */
final class RedisSentinelSite implements LocksInRedis {

    private final OwnRedis first = new OwnRedis();
    private final OwnRedis second = new OwnRedis("replicaof 127.0.0.1 " + first.port());
    private final OwnSentinel sentinel = new OwnSentinel(first, 1);
    private final LettuceConnectionFactory connections = sentinel.connections();
    private final Access access = Access.by(connections);

    Fault kill() {
        return Fault.of(22, "the master is killed, and Sentinel promotes its replica", this::kill)
                .everyNth(4);
    }

    private void kill(Random random) {
        OwnRedis master = sentinel.master() == first.port() ? first : second;
        OwnRedis replica = master == first ? second : first;
        master.kill();
        // Sentinel retries after ten seconds.
        Awaitility.await("the failover").atMost(Duration.ofMinutes(1)).until(() -> sentinel.master() == replica.port());
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
    public Access access() {
        return access;
    }

    /** The store on the current master: Sentinel may have promoted another since the last connection. */
    @Override
    public StressStore store() {
        connections.resetConnection();
        return LocksInRedis.super.store();
    }

    @Override
    public List<String> address(int process) {
        return List.of(
                "spring.data.redis.sentinel.master=" + OwnSentinel.MASTER,
                "spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port());
    }

    @Override
    public List<OwnRedis> servers() {
        return List.of(first, second);
    }

    @Override
    public void close() {
        access.close();
        sentinel.close();
        second.close();
        first.close();
    }
}
