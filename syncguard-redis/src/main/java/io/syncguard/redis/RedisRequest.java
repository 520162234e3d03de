package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A script to run with its keys and arguments.
 *
 * @param description names the operation in errors, such as {@code acquiring lock 'order:42'}; without a lock id
 * @param script the script to run
 * @param shard the shard with all keys of the script
 * @param keys all keys that the script may access
 * @param arguments the arguments of the script
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

    /** Leaves out keys and arguments, which may contain lock ids. */
    @Override
    public String toString() {
        return description;
    }
}
