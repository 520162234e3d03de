package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * A script to be run with these arguments.
 *
 * @param description of the operation in errors, such as {@code acquiring lock 'order:42'}; without a lock id
 * @param script what the server runs
 * @param shard that has all keys of the script
 * @param arguments of the script
 */
record RedisRequest(String description, RedisScript script, RedisShard shard, List<String> arguments) {

    /**
     * The arguments as the driver sends them.
     *
     * @param first argument of every script
     */
    byte[][] values(String first) {
        return Stream.concat(Stream.of(first), arguments.stream())
                .map(argument -> argument.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** Without the arguments, which may be lock ids. */
    @Override
    public String toString() {
        return description;
    }
}
