package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The shards over which the locks of a prefix are spread. The CRC-32 of a lock's name determines its shard. The first
 * ten bits of a lock id are the number of its shard, unless there is only one. The other 118 bits are random.
 */
final class RedisShards {

    /** The largest number that fits into ten bits of a lock id, plus one. */
    static final int MAX = 1024;

    /** The characters of base64url, six bits each. */
    private static final String BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    private final List<RedisShard> shards = new ArrayList<>();

    /**
     * @param prefix the prefix of every key; with a hash tag if there are several shards
     * @param count from 1 to {@value #MAX}
     */
    RedisShards(String prefix, int count) {
        List<String> prefixes = count == 1 ? List.of(prefix) : RedisHashTags.spread(prefix, count);
        for (int number = 0; number < count; number++) {
            shards.add(new RedisShard(number, prefixes.get(number)));
        }
    }

    /** Returns the shards in the order of their numbers. */
    List<RedisShard> all() {
        return Collections.unmodifiableList(shards);
    }

    /** The shard of the lock with this name. */
    RedisShard ofName(String name) {
        if (shards.size() == 1) {
            return shards.get(0);
        }
        CRC32 hash = new CRC32();
        hash.update(name.getBytes(StandardCharsets.UTF_8));
        return shards.get((int) (hash.getValue() % shards.size()));
    }

    /** Returns for each shard a name that begins with this one. */
    List<String> namesOfAll(String name) {
        Map<RedisShard, String> names = new LinkedHashMap<>();
        names.put(ofName(name), name);
        for (int i = 1; names.size() < shards.size(); i++) {
            names.putIfAbsent(ofName(name + ":" + i), name + ":" + i);
        }
        return List.copyOf(names.values());
    }

    /** The shard of the lease or queue entry with this lock id; {@code null} if there is no such shard. */
    @Nullable
    RedisShard ofLockId(String lockId) {
        if (shards.size() == 1) {
            return shards.get(0);
        }
        int number = (sixBits(lockId, 0) << 6 | sixBits(lockId, 1)) >> 2;
        return number >= 0 && number < shards.size() ? shards.get(number) : null;
    }

    /** Writes the number of a shard into a random lock id. */
    String lockIdIn(RedisShard shard, String random) {
        if (shards.size() == 1) {
            return random;
        }
        int twelveBits = shard.number() << 2 | sixBits(random, 1) & 3;
        return "" + BASE64.charAt(twelveBits >> 6) + BASE64.charAt(twelveBits & 63) + random.substring(2);
    }

    private static int sixBits(String lockId, int index) {
        return BASE64.indexOf(lockId.charAt(index));
    }
}
