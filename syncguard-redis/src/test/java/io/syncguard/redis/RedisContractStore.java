package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ContractStore;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * Keys of its own on the real server, under another prefix each time, until the tests of the class end. The backends
 * have the rights of the manual for this prefix, and no others. The test fails if their scripts touch keys that they do
 * not declare. Queue entries live long enough for a slow machine.
 */
public class RedisContractStore implements ContractStore, AfterEachCallback, AfterAllCallback, AutoCloseable {

    private static final Duration WAITER_TTL = Duration.ofMinutes(1);

    /** The queue entries of readers expire this much later in their set. */
    static final double READERS = 4e15;

    private static final AtomicInteger STORES = new AtomicInteger();

    private final String user = "limited_" + ProcessHandle.current().pid() + "_" + STORES.incrementAndGet();
    private final LettuceConnectionFactory connections;
    private final LettuceConnectionFactory limited;
    private final List<RedisScriptWatch> servers;
    private final Runnable stopServer;
    private final StringRedisTemplate redis;
    private final int shards;
    private final RedisBatching batching;
    private final FenceSource fences;
    private RedisSettings settings;

    public RedisContractStore() {
        this(RedisBatching.AUTO);
    }

    RedisContractStore(RedisBatching batching) {
        this(batching, FenceSource.CLOCK);
    }

    RedisContractStore(RedisBatching batching, FenceSource fences) {
        this(
                () -> RedisServer.connections(RedisServer.url()),
                List.of(RedisServer.url()),
                () -> {},
                1,
                batching,
                fences);
    }

    /** A store on this cluster, which ends with it. */
    RedisContractStore(OwnRedisCluster cluster, int shards, RedisBatching batching) {
        this(
                cluster::connections,
                cluster.nodes().stream().map(OwnRedis::url).toList(),
                cluster::close,
                shards,
                batching,
                FenceSource.CLOCK);
    }

    private RedisContractStore(
            Supplier<LettuceConnectionFactory> connections,
            List<String> urls,
            Runnable stopServer,
            int shards,
            RedisBatching batching,
            FenceSource fences) {
        this.connections = connections.get();
        this.limited = RedisRights.as(user, connections.get());
        this.servers = urls.stream().map(RedisScriptWatch::new).toList();
        this.stopServer = stopServer;
        this.shards = shards;
        this.batching = batching;
        this.fences = fences;
        emptied();
        this.connections.afterPropertiesSet();
        redis = new StringRedisTemplate(this.connections);
    }

    @Override
    public final RedisContractStore emptied() {
        settings = settings(RedisServer.newPrefix() + ":", Duration.ofSeconds(5));
        List<String> rights = RedisRights.toLock();
        if (servers.size() > 1) {
            rights.addAll(RedisRights.inACluster());
            rights.addAll(RedisRights.forShards());
        }
        String prefix = settings.keyPrefix().replace("}:", "");
        List<String> ofPrefix = rights.stream()
                .map(right -> right.replace("{syncguard", prefix))
                .toList();
        servers.forEach(server -> {
            server.watch(settings.keyPrefix());
            RedisRights.allow(server.commands(), user, ofPrefix);
        });
        return this;
    }

    StringRedisTemplate redis() {
        return redis;
    }

    String key(String family, String name) {
        RedisShards spread = settings.spread();
        RedisShard shard = family.equals("id") ? spread.ofLockId(name) : spread.ofName(name);
        return shard.prefix() + family + ":" + name;
    }

    /** Returns how often the scripts of an operation call each command. */
    Map<String, Integer> callsOf(Runnable operation) {
        redis.execute((RedisCallback<?>) connection -> {
            connection.serverCommands().resetConfigStats();
            return null;
        });
        operation.run();
        Properties stats =
                redis.execute(connection -> connection.serverCommands().info("commandstats"), false);
        return stats.stringPropertyNames().stream()
                .filter(each -> each.matches("cmdstat_(?!eval|info|config|ping).*"))
                .collect(Collectors.toMap(
                        each -> each.substring("cmdstat_".length()),
                        each -> Integer.valueOf(stats.getProperty(each).replaceFirst("calls=(\\d+),.*", "$1"))));
    }

    /** Returns the number of changes that the server has counted. */
    long changes() {
        Properties persistence =
                redis.execute(connection -> connection.serverCommands().info("persistence"), false);
        return Long.parseLong(persistence.getProperty("rdb_changes_since_last_save"));
    }

    /** Runs a step of Lua for each i from 1 to the count. Its keys are these, from the second on. */
    void repeat(int count, String step, String... keys) {
        List<String> all =
                Stream.concat(Stream.of(key("any", "key")), Arrays.stream(keys)).toList();
        redis.execute(new DefaultRedisScript<>("for i = 1, " + count + " do " + step + " end"), all);
    }

    /** Matches the beginning of the keys of all shards. */
    String prefixPattern() {
        return settings.keyPrefix().replace("}", "*}");
    }

    /** Sends a message to all processes that wait for the key, as every client can that may send to their channels. */
    void sendToWaiters(String key, String message) {
        List<Object> waiters = redis.opsForHash().values(key("waiters", key));
        assertThat(waiters).isNotEmpty();
        waiters.forEach(waiter -> redis.convertAndSend(channelOf(waiter.toString()), message));
    }

    /** Reads the channel of a waiter, which is between its length and the label. */
    private static String channelOf(String waiter) {
        String[] words = waiter.split(" ", 7);
        return words[6].substring(0, Integer.parseInt(words[5]));
    }

    @Override
    public StoreCalls newBackend() {
        return newBackend(settings.timeout());
    }

    StoreCalls newBackend(Duration timeout) {
        RedisLockBackend backend = batching.store(limited, settings(settings.keyPrefix(), timeout));
        if (shards > 1) {
            // As an application does at its start: the first request of a short lease has no time to connect to a
            // cluster.
            backend.checkServer();
        }
        return new StoreCalls(backend);
    }

    private RedisSettings settings(String prefix, Duration timeout) {
        return new RedisSettings(prefix, timeout, WAITER_TTL, shards, FenceSettings.from(fences));
    }

    @Override
    public void expireLease(String lockId) {
        String name = name(lockId);
        setEnd(key("readers", name), lockId, millis() - LockBackend.TOLERANCE_MILLIS);
        String lease = redis.opsForValue().get(key("lock", name));
        if (lease != null && lease.startsWith(lockId + " ", 1)) {
            expireExclusive(name, lease);
        }
    }

    /** Removes the expiry of the lease in Redis, so that only its content decides. */
    private void expireExclusive(String name, String lease) {
        redis.opsForValue().set(key("lock", name), lease.replaceFirst(" \\d+ ", " " + millis() + " "));
    }

    @Override
    public void expire(String key) {
        redis.opsForZSet()
                .range(key("readers", key), 0, -1)
                .forEach(reader -> setEnd(key("readers", key), reader, millis() - LockBackend.TOLERANCE_MILLIS));
        String lease = redis.opsForValue().get(key("lock", key));
        if (lease != null) {
            expireExclusive(key, lease);
        }
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        setEnd(key("waiting", name(lockId)), lockId, millis() + left.toMillis());
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        redis.opsForValue().set(key("fence", key), String.valueOf(fence));
    }

    @Override
    public FenceSource fences() {
        return fences;
    }

    @Override
    public long clockMillis() {
        return millis();
    }

    @Override
    public long storedFence(String key) {
        String fence = redis.opsForValue().get(key("fence", key));
        return fence == null ? 0 : Long.parseLong(fence);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertThat(servers)
                .as("commands in scripts, with keys that the scripts have not declared")
                .flatExtracting(RedisScriptWatch::undeclared)
                .isEmpty();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        connections.destroy();
        servers.forEach(server -> {
            server.commands().aclDeluser(user);
            server.close();
        });
        stopServer.run();
    }

    private void setEnd(String set, String member, long end) {
        Double score = redis.opsForZSet().score(set, member);
        if (score != null) {
            redis.opsForZSet().add(set, member, score < READERS ? end : READERS + end);
        }
    }

    private String name(String lockId) {
        return String.valueOf(redis.opsForValue().get(key("id", lockId)));
    }

    private long millis() {
        return redis.execute(connection -> connection.serverCommands().time(), false);
    }
}
