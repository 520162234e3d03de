package io.syncguard.verification.stress;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.redis.RedisBatching;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.RedisProxy;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.RedisStressStore;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A separate Redis for the run, which kills and restarts it. The server writes each grant to disk before it answers.
 * The applications also have a database.
 */
final class RedisStressServer implements StressServer {

    private final Surroundings surroundings;
    private final boolean replayed;
    private final OwnRedis server;
    private final RedisProxy proxy;
    private final LettuceConnectionFactory connections;
    private final StringRedisTemplate redis;

    RedisStressServer(Surroundings surroundings) {
        this(surroundings, false);
    }

    private RedisStressServer(Surroundings surroundings, boolean replayed) {
        this.surroundings = surroundings;
        this.replayed = replayed;
        this.server = new OwnRedis(
                "appendonly yes", "appendfsync always", "dir \"" + directory(surroundings.directory()) + "\"");
        this.proxy = new RedisProxy(server.url());
        this.connections = connectionsTo(server);
        this.redis = new StringRedisTemplate(connections);
    }

    /** A server for a run that is replayed on the model: it counts fences, and is paused but never killed. */
    static RedisStressServer forReplay(Surroundings surroundings) {
        return new RedisStressServer(surroundings, true);
    }

    /** Creates started connections for the faults and the end of a run. */
    static LettuceConnectionFactory connectionsTo(OwnRedis server) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                (RedisStandaloneConfiguration) LettuceConnectionFactory.createRedisConfiguration(server.url()),
                LettuceClientConfiguration.builder()
                        .commandTimeout(Duration.ofSeconds(20))
                        // The driver repeats no request, because the time at which a lease was ended must be known.
                        .clientOptions(ClientOptions.builder()
                                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                                .build())
                        .build());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    private static Path directory(Path parent) {
        try {
            return Files.createDirectories(parent.resolve("redis")).toAbsolutePath();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public String url(int process) {
        return process % 2 == 0 ? server.url() : proxy.url();
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url=" + surroundings.url(),
                "spring.data.redis.url=" + url(process),
                "spring.data.redis.timeout=2s",
                "syncguard.backend=redis",
                "syncguard.fences=" + (replayed ? FenceSource.COUNTER : FenceSource.CLOCK),
                StressClient.PERMITTED + "=" + !replayed,
                batching(process));
    }

    /** The batching of a process: the processes use different batching on the same keys. */
    static String batching(int process) {
        return ApplicationBackend.BATCHING + "=" + RedisBatching.values()[process % RedisBatching.values().length];
    }

    @Override
    public StressStore store() {
        return StressStore.of(redis);
    }

    @Override
    public List<Disturbance> disturbances(HistoryRecorder recorder, Random random) {
        RedisFaults.Part all = new RedisFaults.Part(RedisStressStore.ONE_SHARD, key -> true, proxy);
        RedisFaults faults = new RedisFaults(server, redis, all, recorder, random);
        return Stream.concat(
                        // Several threads, because each waits most of the time.
                        Collections.nCopies(3, new Disturbance(40, faults::any)).stream(),
                        Stream.of(new Disturbance(2500, replayed ? faults::pauseServer : faults::ofTheServer)))
                .toList();
    }

    @Override
    public Set<String> ownEvents() {
        return replayed ? Set.of("SERIALISED OK", "STOPPED OK") : Set.of("SERIALISED OK", "STOPPED OK", "RESTARTED OK");
    }

    @Override
    public void close() {
        proxy.close();
        connections.destroy();
        server.close();
    }
}
