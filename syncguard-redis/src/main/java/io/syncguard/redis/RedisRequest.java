package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A script to be run with these arguments.
 *
 * @param description of the operation in errors, such as {@code acquiring lock 'order:42'}; without a lock id
 * @param script what the server runs
 * @param shard that has all keys of the script
 * @param keys all that the script may touch
 * @param arguments of the script
 */
record RedisRequest(
        String description, RedisScript script, RedisShard shard, List<String> keys, List<String> arguments) {

    /** The keys as the driver sends them. */
    byte[][] keyValues() {
        return values(keys);
    }

    /** The arguments as the driver sends them. */
    byte[][] values() {
        return values(arguments);
    }

    private static byte[][] values(List<String> texts) {
        byte[][] values = new byte[texts.size()][];
        for (int i = 0; i < values.length; i++) {
            values[i] = texts.get(i).getBytes(StandardCharsets.UTF_8);
        }
        return values;
    }

    /** Without keys and arguments, which may have lock ids. */
    @Override
    public String toString() {
        return description;
    }
}
