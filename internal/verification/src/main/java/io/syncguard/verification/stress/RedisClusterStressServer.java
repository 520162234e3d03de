package io.syncguard.verification.stress;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.RedisStressStore;
import io.syncguard.verification.recording.StressStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A separate cluster of three masters for the run, with the locks in four shards. The run disturbs each master
 * separately. It kills none: without replicas, the locks of that master would be lost.
 */
final class RedisClusterStressServer implements StressServer {

    private final Surroundings surroundings;
    private final OwnRedisCluster cluster = new OwnRedisCluster();
    private final LettuceConnectionFactory all = cluster.connections();
    private final List<LettuceConnectionFactory> each = new ArrayList<>();

    RedisClusterStressServer(Surroundings surroundings) {
        this.surroundings = surroundings;
        all.afterPropertiesSet();
        all.start();
    }

    @Override
    public String url(int process) {
        return RedisStressStore.CLUSTER_SCHEME + addresses();
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=" + surroundings.url(),
                "spring.data.redis.cluster.nodes=" + addresses(),
                "spring.data.redis.timeout=2s",
                "syncguard.backend=redis",
                "syncguard.redis.shards=4",
                RedisStressServer.batching(process));
    }

    @Override
    public StressStore store() {
        return new RedisStressStore(new StringRedisTemplate(all), RedisStressStore.FOUR_SHARDS);
    }

    @Override
    public List<Disturbance> disturbances(HistoryRecorder recorder, Random random) {
        return cluster.nodes().stream()
                .map(node -> faultsOf(node, recorder, new Random(random.nextLong())))
                .flatMap(faults ->
                        Stream.of(new Disturbance(40, faults::any), new Disturbance(3000, faults::pauseServer)))
                .toList();
    }

    private RedisFaults faultsOf(OwnRedis node, HistoryRecorder recorder, Random random) {
        LettuceConnectionFactory connections = RedisStressServer.connectionsTo(node);
        each.add(connections);
        List<String> prefixes = RedisStressStore.FOUR_SHARDS.stream()
                .filter(prefix -> cluster.serves(node, prefix))
                .toList();
        RedisFaults.Part part = new RedisFaults.Part(prefixes, key -> prefixes.contains(prefixOf(key)), null);
        return new RedisFaults(node, new StringRedisTemplate(connections), part, recorder, random);
    }

    private static String prefixOf(String key) {
        CRC32 hash = new CRC32();
        hash.update(key.getBytes(StandardCharsets.UTF_8));
        return RedisStressStore.FOUR_SHARDS.get((int) (hash.getValue() % RedisStressStore.FOUR_SHARDS.size()));
    }

    @Override
    public Set<String> ownEvents() {
        return Set.of("SERIALISED OK", "STOPPED OK");
    }

    @Override
    public void close() {
        each.forEach(LettuceConnectionFactory::destroy);
        all.destroy();
        cluster.close();
    }

    private String addresses() {
        return cluster.nodes().stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }
}
