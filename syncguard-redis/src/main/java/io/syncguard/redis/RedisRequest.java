package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
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
        String description, RedisScript script, RedisShard shard, RedisArguments keys, RedisArguments arguments) {

    /** Runs the script by its digest. */
    RedisFuture<List<Object>> run(BaseRedisAsyncCommands<byte[], byte[]> commands) {
        return script.run(commands, keys, arguments);
    }

    /** Runs the script by its text, for a server that does not know the digest. */
    RedisFuture<List<Object>> runText(BaseRedisAsyncCommands<byte[], byte[]> commands) {
        return script.runText(commands, keys, arguments);
    }

    /** Leaves out keys and arguments, which may contain lock ids. */
    @Override
    public String toString() {
        return description;
    }
}
