package io.syncguard.check;

import io.syncguard.core.ContractStore;
import io.syncguard.core.StoreCalls;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.verification.stress.StressDatabase;
import io.syncguard.verification.stress.StressWorker;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.types.RedisClientInfo;

/** Keys under a prefix on Redis. It is also the store of the contract, with another prefix for each of its rules. */
final class RedisArea implements Area, ContractStore {

    /** Queue entries of the contract live long enough for a slow server. */
    private static final Duration WAITER_TTL = Duration.ofMinutes(1);

    /** The queue entries of readers expire this much later in their set. */
    private static final double READERS = 4e15;

    private final RedisServer server;
    private final StringRedisTemplate redis;
    private final String name;
    private int rules;

    RedisArea(RedisServer server, String name) {
        this.server = server;
        this.redis = server.redis();
        this.name = name;
    }

    /** The beginning of all keys of an area. */
    static String prefix(String name) {
        return "{" + name + "}:";
    }

    /** @throws RuntimeException if the user lacks a right that locks need */
    void checkRights() {
        try (RedisLockBackend backend = backend()) {
            backend.checkServer();
        }
    }

    private String prefix() {
        return prefix(name + "_" + rules);
    }

    private String key(String family, String of) {
        return prefix() + family + ":" + of;
    }

    @Override
    public ContractStore contractStore() {
        return this;
    }

    @Override
    public @Nullable StressDatabase data() {
        return null;
    }

    @Override
    public Map<String, String> properties(@Nullable String address) {
        Map<String, String> properties = new LinkedHashMap<>(server.login());
        if (address != null) {
            properties.computeIfPresent(
                    "spring.data.redis.url", (any, url) -> url.replaceFirst("(//([^@/]*@)?)[^/?]*", "$1" + address));
        }
        properties.put("spring.data.redis.client-name", name);
        properties.put("syncguard.backend", "redis");
        properties.put("syncguard.redis.key-prefix", prefix(name));
        properties.put(StressWorker.DATA, name);
        // A database in memory would start otherwise, because its driver is here.
        properties.put(
                "spring.autoconfigure.exclude",
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
        return properties;
    }

    @Override
    public ContractStore emptied() {
        rules++;
        return this;
    }

    @Override
    public StoreCalls newBackend() {
        return new StoreCalls(backend());
    }

    private RedisLockBackend backend() {
        return new RedisLockBackend(
                server.connections(),
                new RedisSettings(prefix(), RedisServer.TIMEOUT, WAITER_TTL, 1, FenceSettings.from(FenceSource.CLOCK)));
    }

    @Override
    public void expireLease(String lockId) {
        String of = String.valueOf(redis.opsForValue().get(key("id", lockId)));
        setEnd(key("readers", of), lockId, clockMillis() - LockBackend.TOLERANCE_MILLIS);
        String lease = redis.opsForValue().get(key("lock", of));
        if (lease != null && lease.startsWith(lockId + " ", 1)) {
            expireExclusive(of, lease);
        }
    }

    /** Removes the expiry of the lease in Redis, so that only its content decides. */
    private void expireExclusive(String of, String lease) {
        redis.opsForValue().set(key("lock", of), lease.replaceFirst(" \\d+ ", " " + clockMillis() + " "));
    }

    @Override
    public void expire(String of) {
        redis.opsForZSet()
                .range(key("readers", of), 0, -1)
                .forEach(reader -> setEnd(key("readers", of), reader, clockMillis() - LockBackend.TOLERANCE_MILLIS));
        String lease = redis.opsForValue().get(key("lock", of));
        if (lease != null) {
            expireExclusive(of, lease);
        }
    }

    @Override
    public void endQueueEntryIn(String lockId, Duration left) {
        String of = String.valueOf(redis.opsForValue().get(key("id", lockId)));
        setEnd(key("waiting", of), lockId, clockMillis() + left.toMillis());
    }

    private void setEnd(String set, String member, long end) {
        Double score = redis.opsForZSet().score(set, member);
        if (score != null) {
            redis.opsForZSet().add(set, member, score < READERS ? end : READERS + end);
        }
    }

    @Override
    public void drawnUpTo(String of, long fence) {
        redis.opsForValue().set(key("fence", of), String.valueOf(fence));
    }

    @Override
    public long storedFence(String of) {
        String fence = redis.opsForValue().get(key("fence", of));
        return fence == null ? 0 : Long.parseLong(fence);
    }

    @Override
    public FenceSource fences() {
        return FenceSource.CLOCK;
    }

    @Override
    public long clockMillis() {
        return server.clockMillis();
    }

    @Override
    public @Nullable String address() {
        return server.address();
    }

    @Override
    public boolean endSession() {
        try {
            return Boolean.TRUE.equals(redis.execute((RedisCallback<Boolean>) this::endOne));
        } catch (RuntimeException ex) {
            // A cluster has no single list, or the user may not read it.
            return false;
        }
    }

    private boolean endOne(RedisConnection connection) {
        List<RedisClientInfo> ours = connection.serverCommands().getClientList().stream()
                .filter(client -> String.valueOf(client.getName()).contains(name))
                .toList();
        if (ours.isEmpty()) {
            return false;
        }
        RedisClientInfo victim = ours.get(ThreadLocalRandom.current().nextInt(ours.size()));
        String address = String.valueOf(victim.getAddressPort());
        int colon = address.lastIndexOf(':');
        connection
                .serverCommands()
                .killClient(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        return true;
    }

    @Override
    public long writesCounted(int writes) {
        String key = prefix(name) + "writes";
        redis.delete(key);
        for (int i = 0; i < writes; i++) {
            redis.opsForValue().increment(key);
        }
        String counted = redis.opsForValue().get(key);
        redis.delete(key);
        return Long.parseLong(String.valueOf(counted));
    }

    @Override
    public String leftovers() {
        return "the keys that begin with {" + name;
    }

    @Override
    public void close() {
        try (var keys = redis.scan(
                ScanOptions.scanOptions().match("{" + name + "*").count(1000).build())) {
            keys.forEachRemaining(redis::delete);
        }
    }
}
