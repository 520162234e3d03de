package io.syncguard.redis;

import io.syncguard.core.ContractStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Keys of its own on the real server, under another prefix each time. Queue entries live long enough for a slow
 * machine.
 */
final class RedisContractStore implements ContractStore, AutoCloseable {

    private static final Duration WAITER_TTL = Duration.ofMinutes(1);

    private final LettuceConnectionFactory connections;
    private final StringRedisTemplate redis;
    private final int shards;
    private final RedisBatching batching;
    private RedisSettings settings;

    RedisContractStore() {
        this(RedisBatching.AUTO);
    }

    RedisContractStore(RedisBatching batching) {
        this(RedisServer.connections(RedisServer.url()), 1, batching);
    }

    /** A store on another server, or on a cluster. */
    RedisContractStore(LettuceConnectionFactory connections, int shards, RedisBatching batching) {
        this.connections = connections;
        this.shards = shards;
        this.batching = batching;
        emptied();
        connections.afterPropertiesSet();
        redis = new StringRedisTemplate(connections);
    }

    RedisContractStore emptied() {
        settings =
                new RedisSettings(RedisServer.newPrefix() + ":", Duration.ofSeconds(5), WAITER_TTL, shards, batching);
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

    /** Matches the beginning of the keys of all shards. */
    String prefixPattern() {
        return settings.keyPrefix().replace("}", "*}");
    }

    @Override
    public LockBackend newBackend() {
        return newBackend(settings.timeout());
    }

    LockBackend newBackend(Duration timeout) {
        RedisLockBackend backend = new RedisLockBackend(
                connections, new RedisSettings(settings.keyPrefix(), timeout, WAITER_TTL, shards, batching));
        if (shards > 1) {
            // As an application does at its start: the first request of a short lease has no time to connect to a
            // cluster.
            backend.checkServer();
        }
        return backend;
    }

    @Override
    public void expireLease(String lockId) {
        String name = name(lockId);
        for (String family : List.of("lock", "readers")) {
            setEnd(key(family, name), lockId, millis() - LockBackend.TOLERANCE_MILLIS);
        }
    }

    /** Ends all leases of the key. */
    void expire(String key) {
        for (String family : List.of("lock", "readers")) {
            redis.opsForZSet().range(key(family, key), 0, -1).forEach(this::expireLease);
        }
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        String name = name(lockId);
        Object entry = redis.opsForHash().get(key("id", lockId), "entry");
        for (String family : List.of("waiting_writers", "waiting_readers")) {
            setEnd(key(family, name), String.valueOf(entry), millis() + left.toMillis());
        }
    }

    @Override
    public void drawnUpTo(String key, long fence) {
        redis.opsForValue().set(key("fence", key), String.valueOf(fence));
    }

    @Override
    public long storedFence(String key) {
        String fence = redis.opsForValue().get(key("fence", key));
        return fence == null ? 0 : Long.parseLong(fence);
    }

    @Override
    public void close() {
        connections.destroy();
    }

    private void setEnd(String set, String member, long end) {
        if (redis.opsForZSet().score(set, member) != null) {
            redis.opsForZSet().add(set, member, end);
        }
    }

    private String name(String lockId) {
        return String.valueOf(redis.opsForHash().get(key("id", lockId), "name"));
    }

    private long millis() {
        return redis.execute(connection -> connection.serverCommands().time(), false);
    }
}
