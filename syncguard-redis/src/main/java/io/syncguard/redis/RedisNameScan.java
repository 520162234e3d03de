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
 * Finds the names of locks by {@code SCAN}, which passes all keys of a server, those of others, too. Each step is small,
 * because everybody else waits for it, and is followed by a pause. Each master is passed once, however many shards it
 * has. Thread-safe.
 */
final class RedisNameScan {

    /** Half a millisecond of the server. Less than half of that would take a fifth more of its time in all. */
    private static final long STEP = 500;

    /** A lock that has a holder or a waiter has a key of one of these families. */
    private static final List<String> FAMILIES = List.of("lock:", "readers:", "queue:");

    private final RedisScriptRunner scripts;
    private final RedisPace pace;
    private final Map<String, RedisShard> shards;

    /** The prefix of a shard: up to its number, and behind that. The second is empty if there is only one. */
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
        // The first letters of the families: a pattern has no alternatives.
        this.step = ScanArgs.Builder.limit(STEP).match((pattern + "[lrq]*").getBytes(StandardCharsets.UTF_8));
    }

    /** The locks that have a holder or a waiter, or had one not long ago, with their names as their keys. */
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
            // Together they take one round trip.
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

    /** {@code null} for the key of something else. */
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

    /** The masters of a cluster, as far as the driver knows, with their shards. */
    private Map<RedisClusterNode, Set<RedisShard>> masters(RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster) {
        // The answers tell the driver of shards that have moved.
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

    /** Fails if the server does not have the shards, or not all of their keys: {@code SCAN} does not tell. */
    private void requireShards(RedisClusterAsyncCommands<byte[], byte[]> server, Set<RedisShard> itsShards) {
        Map<RedisShard, RedisFuture<Long>> answers = new HashMap<>();
        for (RedisShard shard : itsShards) {
            byte[] none = (shard.prefix() + "none").getBytes(StandardCharsets.UTF_8);
            answers.put(shard, connected(() -> server.exists(none)));
        }
        answers.values().forEach(this::await);
    }

    /** The same type for one server, for sentinels and for a cluster. */
    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return (RedisClusterAsyncCommands<byte[], byte[]>) scripts.connect(RedisKeyScan.DOING, scripts.limit());
    }

    private <T> T await(RedisFuture<T> answer) {
        return scripts.await(
                answer, scripts.deadline(scripts.limit()), error -> scripts.translate(RedisKeyScan.DOING, error));
    }

    /** The driver fails at once without a connection. */
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

    /** As a part of a pattern of Redis. */
    private static String escaped(String text) {
        return text.replaceAll("[*?\\[\\]\\\\]", "\\\\$0");
    }
}
