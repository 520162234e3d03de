package io.syncguard.redis;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the names of locks by {@code SCAN}, which reads all keys of a server, including those of other applications.
 * Each step is small, because all other clients wait for it, and is followed by a pause. Each master is scanned once,
 * however many shards it has. Thread-safe.
 */
final class RedisNameScan {

    /**
     * Takes the server half a millisecond. Steps of less than half that size would take a fifth more of its time in
     * all.
     */
    private static final long STEP = 500;

    /** A lock that has a holder or a waiter has a key of one of these families. */
    private static final List<String> FAMILIES = List.of("lock:", "readers:", "queue:");

    private final RedisScriptRunner scripts;
    private final RedisPace pace;
    private final Map<String, RedisShard> shards;

    /** The prefix of a shard, up to its number and after it. The second part is empty if there is only one shard. */
    private final String begin;

    private final String end;

    private final ScanArgs step;

    RedisNameScan(RedisScriptRunner scripts, RedisShards shards, RedisPace pace) {
        this.scripts = scripts;
        this.pace = pace;
        this.shards = shards.all().stream().collect(Collectors.toMap(RedisShard::prefix, shard -> shard));
        String prefix = shards.all().get(0).prefix();
        boolean one = shards.all().size() == 1;
        int tag = prefix.indexOf('}', prefix.indexOf('{'));
        this.begin = one ? prefix : prefix.substring(0, prefix.lastIndexOf('#', tag) + 1);
        this.end = one ? "" : prefix.substring(tag);
        String pattern = one ? escaped(begin) : escaped(begin) + "*" + escaped(end);
        // Matches the first letters of the families, because a pattern has no alternatives.
        this.step = ScanArgs.Builder.limit(STEP).match((pattern + "[lrq]*").getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns the locks that have a holder or a waiter, or had one recently, with their names in place of their keys.
     */
    Set<RedisLock> locks() {
        Set<RedisLock> found = new HashSet<>();
        RedisClusterAsyncCommands<byte[], byte[]> commands = commands();
        if (commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster) {
            masters(cluster).forEach((master, itsShards) -> {
                RedisClusterAsyncCommands<byte[], byte[]> node = connected(() -> cluster.getConnection(
                        master.getUri().getHost(), master.getUri().getPort()));
                requireShards(node, itsShards);
                scan(node, found);
                requireShards(node, itsShards);
            });
        } else {
            scan(commands, found);
        }
        return found;
    }

    private void scan(RedisClusterAsyncCommands<byte[], byte[]> server, Set<RedisLock> found) {
        ScanCursor cursor = ScanCursor.INITIAL;
        while (!cursor.isFinished()) {
            ScanCursor from = cursor;
            // The three commands take one round trip together.
            RedisFuture<List<byte[]>> before = connected(server::time);
            RedisFuture<KeyScanCursor<byte[]>> page = connected(() -> server.scan(from, step));
            RedisFuture<List<byte[]>> after = connected(server::time);
            long began = micros(await(before));
            KeyScanCursor<byte[]> keys = await(page);
            keys.getKeys().stream().map(this::lock).filter(lock -> lock != null).forEach(found::add);
            long took = micros(await(after)) - began;
            cursor = keys;
            if (!cursor.isFinished()) {
                pace.rest(RedisKeyScan.DOING, TimeUnit.MICROSECONDS.toNanos(took));
            }
        }
    }

    /** Returns {@code null} if the Redis key does not belong to a lock. */
    private @Nullable RedisLock lock(byte[] bytes) {
        String key = new String(bytes, StandardCharsets.UTF_8);
        int at = key.indexOf(end, begin.length()) + end.length();
        RedisShard shard = shards.get(key.substring(0, at));
        String rest = key.substring(at);
        return shard == null
                ? null
                : FAMILIES.stream()
                        .filter(rest::startsWith)
                        .map(family -> rest.substring(family.length()))
                        .map(name -> new RedisLock(name, name, shard))
                        .findFirst()
                        .orElse(null);
    }

    /** Returns the masters of a cluster that the driver knows, with their shards. */
    private Map<RedisClusterNode, Set<RedisShard>> masters(RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster) {
        // The answers inform the driver of shards that have moved.
        requireShards(cluster, Set.copyOf(shards.values()));
        Map<RedisClusterNode, Set<RedisShard>> masters = new LinkedHashMap<>();
        for (RedisShard shard : shards.values()) {
            RedisClusterNode master = scripts.masterOf(SlotHash.getSlot(shard.prefix()));
            if (master == null) {
                throw scripts.translate(RedisKeyScan.DOING, new RedisException("No master has its slot"));
            }
            masters.computeIfAbsent(master, any -> new HashSet<>()).add(shard);
        }
        return masters;
    }

    /** Fails if the server does not have all keys of the shards. {@code SCAN} does not report that. */
    private void requireShards(RedisClusterAsyncCommands<byte[], byte[]> server, Set<RedisShard> itsShards) {
        Map<RedisShard, RedisFuture<Long>> answers = new HashMap<>();
        for (RedisShard shard : itsShards) {
            byte[] none = (shard.prefix() + "none").getBytes(StandardCharsets.UTF_8);
            answers.put(shard, connected(() -> server.exists(none)));
        }
        answers.values().forEach(this::await);
    }

    /** The type is the same for one server, for sentinels and for a cluster. */
    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return (RedisClusterAsyncCommands<byte[], byte[]>) scripts.connect(RedisKeyScan.DOING, scripts.limit());
    }

    private <T> T await(RedisFuture<T> answer) {
        return scripts.await(RedisKeyScan.DOING, answer);
    }

    /** Translates the error that the driver throws at once without a connection. */
    private <T> T connected(Supplier<T> call) {
        try {
            return call.get();
        } catch (RedisException ex) {
            throw scripts.translate(RedisKeyScan.DOING, ex);
        }
    }

    private static long micros(List<byte[]> time) {
        return TimeUnit.SECONDS.toMicros(number(time.get(0))) + number(time.get(1));
    }

    private static long number(byte[] text) {
        return Long.parseLong(new String(text, StandardCharsets.US_ASCII));
    }

    /** Escapes a text for a pattern of Redis. */
    private static String escaped(String text) {
        return text.replaceAll("[*?\\[\\]\\\\]", "\\\\$0");
    }
}
