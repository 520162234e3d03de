package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import java.util.List;
import java.util.stream.Collectors;

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

    private static final RedisScript BATCH = RedisScript.named("batch");

    /**
     * Joins requests to one shard into one.
     *
     * @param first the first argument; those of the requests are behind it
     */
    static RedisRequest joined(String description, RedisScript script, String first, List<RedisRequest> requests) {
        RedisArguments keys = new RedisArguments(
                requests.stream().mapToInt(request -> request.keys().size()).sum());
        RedisArguments arguments = new RedisArguments(first.length()
                + 10
                + requests.stream()
                        .mapToInt(request -> request.arguments().size())
                        .sum());
        arguments.add(first);
        for (RedisRequest request : requests) {
            keys.addAll(request.keys());
            arguments.addAll(request.arguments());
        }
        return new RedisRequest(description, script, requests.get(0).shard(), keys, arguments);
    }

    /**
     * Combines requests for the scripts {@code acquire} and {@code release} into one, which answers them in their
     * order.
     */
    static RedisRequest batch(String description, List<RedisRequest> requests) {
        String operations =
                requests.stream().map(request -> request.script().name()).collect(Collectors.joining(" "));
        return joined(description, BATCH, operations, requests);
    }

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
