package io.syncguard.redis;

import java.util.List;

/**
 * A script to be run with these arguments.
 *
 * @param description of the operation in errors, such as {@code acquiring lock 'order:42'}; without a lock id
 * @param script what the server runs
 * @param shard that has all keys of the script
 * @param arguments of the script
 */
record RedisRequest(String description, RedisScript script, RedisShard shard, List<String> arguments) {

    /** Without the arguments, which may be lock ids. */
    @Override
    public String toString() {
        return description;
    }
}
