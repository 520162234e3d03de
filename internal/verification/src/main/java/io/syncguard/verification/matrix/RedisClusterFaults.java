package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnRedis;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;

/** Failovers of the node with the locks. */
final class RedisClusterFaults {

    private final List<OwnRedis> pair;

    RedisClusterFaults(RedisClusterSite site) {
        this.pair = site.pair();
    }

    /** A requested failover, before which the replica receives everything. */
    Fault handOver() {
        return Fault.of(22, "a failover that is asked for", random -> {
                    OwnRedis replica = other(master());
                    replica.commands().clusterFailover(false);
                    awaitMaster(replica);
                    awaitInStep();
                })
                .everyNth(4);
    }

    /** A failover because the master was killed. Writes that the replica had not received are lost. */
    Fault kill() {
        return Fault.of(22, "the master is killed, and its replica takes over", this::kill)
                .everyNth(4);
    }

    private void kill(Random random) {
        OwnRedis master = master();
        master.kill();
        awaitMaster(other(master));
        LinkFaults.pause(random, 1, 200);
        master.start();
        awaitInStep();
    }

    private OwnRedis master() {
        return pair.stream().filter(RedisClusterFaults::isMaster).findFirst().orElseThrow();
    }

    private OwnRedis other(OwnRedis node) {
        return pair.get(1 - pair.indexOf(node));
    }

    private static boolean isMaster(OwnRedis node) {
        return node.ask("replication").contains("role:master");
    }

    private static void awaitMaster(OwnRedis node) {
        Awaitility.await("the failover").ignoreExceptions().until(() -> isMaster(node));
    }

    /** Waits until the other node is a replica that has everything. */
    private void awaitInStep() {
        Awaitility.await("the replica")
                .ignoreExceptions()
                .until(() -> pair.stream().filter(RedisClusterFaults::isMaster).count() == 1
                        && other(master()).ask("replication").contains("master_link_status:up"));
    }
}
