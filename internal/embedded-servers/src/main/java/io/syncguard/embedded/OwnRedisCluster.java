package io.syncguard.embedded;

import io.lettuce.core.cluster.SlotHash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.FileSystemUtils;

/** Three embedded nodes that share the slots among them. */
public final class OwnRedisCluster implements AutoCloseable {

    private static final int SLOTS = 16_384;

    private final Path data = RunDirectory.newDirectory("redis-cluster");
    private final List<String> settings;
    private final List<OwnRedis> nodes;
    private final List<OwnRedis> replicas = new ArrayList<>();

    /** @param settings further lines of the configuration file of each node */
    public OwnRedisCluster(String... settings) {
        this.settings = List.of(settings);
        this.nodes = IntStream.range(0, 3).mapToObj(this::node).toList();
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i)
                    .commands()
                    .clusterAddSlots(IntStream.range(SLOTS * i / nodes.size(), SLOTS * (i + 1) / nodes.size())
                            .toArray());
            // Nodes with the same epoch take new epochs later. A node could then claim a slot back during its move.
            nodes.get(i).commands().clusterSetConfigEpoch(i + 1);
            meet(nodes.get(i), nodes.subList(0, i));
        }
        Patience.awaitOrFail(() -> nodes.stream()
                .allMatch(node -> node.commands().clusterInfo().contains("cluster_state:ok")
                        && node.commands().clusterInfo().contains("cluster_known_nodes:3")));
    }

    public List<OwnRedis> nodes() {
        return nodes;
    }

    /** The node that has this key. */
    public OwnRedis nodeWith(String key) {
        int slot = SlotHash.getSlot(key);
        return nodes.stream()
                .filter(node -> node.commands().clusterCountKeysInSlot(slot) > 0)
                .findFirst()
                .orElseThrow();
    }

    /** Whether the node got the slot of this key at the creation of the cluster. */
    public boolean serves(OwnRedis node, String key) {
        return nodes.indexOf(node) == SlotHash.getSlot(key) * nodes.size() / SLOTS;
    }

    /** Adds a replica of this master. When this returns, the replica has all data. */
    public OwnRedis addReplica(OwnRedis master) {
        OwnRedis replica = node(nodes.size() + replicas.size());
        replicas.add(replica);
        meet(replica, nodes);
        String id = master.commands().clusterMyId();
        Patience.awaitOrFail(() -> replica.commands().clusterNodes().contains(id));
        replica.commands().clusterReplicate(id);
        Patience.awaitOrFail(() -> Stream.concat(nodes.stream(), Stream.of(replica))
                .allMatch(node -> node.commands().clusterNodes().contains("slave " + id)));
        return replica;
    }

    /** The connection factory of an application that uses this cluster. Not started. */
    public LettuceConnectionFactory connections() {
        return new LettuceConnectionFactory(
                new RedisClusterConfiguration(
                        nodes.stream().map(node -> "127.0.0.1:" + node.port()).toList()),
                OwnRedis.clientConfiguration());
    }

    @Override
    public void close() {
        nodes.forEach(OwnRedis::close);
        replicas.forEach(OwnRedis::close);
        try {
            FileSystemUtils.deleteRecursively(data);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Introduces the node to every other node: otherwise some may learn of it only after ten seconds. */
    private static void meet(OwnRedis node, List<OwnRedis> others) {
        others.forEach(other -> node.commands().clusterMeet("127.0.0.1", other.port()));
    }

    private OwnRedis node(int number) {
        return new OwnRedis(Stream.concat(
                        Stream.of("cluster-enabled yes", "dir " + data, "cluster-config-file node-" + number + ".conf"),
                        settings.stream())
                .toArray(String[]::new));
    }
}
