package io.syncguard.redis;

import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends requests to one shard in one script, and does not wait for the answer. Thread-safe. */
final class RedisBatchSender implements AsyncBatcher.Sender<RedisRequest, Object> {

    private static final RedisScript BATCH = RedisScript.named("batch");

    private final RedisScriptRunner scripts;
    private final RedisShard shard;

    RedisBatchSender(RedisScriptRunner scripts, RedisShard shard) {
        this.scripts = scripts;
        this.shard = shard;
    }

    /** Runs on a thread of a caller or of the driver. The callers have waited for the connection before. */
    @Override
    public CompletableFuture<List<Object>> send(List<RedisRequest> requests) {
        String doing = "running " + requests.size() + " operations";
        RedisScriptingAsyncCommands<byte[], byte[]> commands = scripts.connect(doing, 0);
        RedisRequest batch = batch(doing, shard, requests);
        return RedisAsyncRequests.send(commands, BATCH, batch.keyValues(), batch.values());
    }

    /** Combines the requests into one, which answers them in their order. */
    static RedisRequest batch(String description, RedisShard shard, List<RedisRequest> requests) {
        List<String> keys = new ArrayList<>();
        List<String> arguments = new ArrayList<>();
        for (RedisRequest request : requests) {
            keys.addAll(request.keys());
            arguments.add(request.script().name());
            arguments.add(Integer.toString(request.keys().size()));
            arguments.add(Integer.toString(request.arguments().size()));
            arguments.addAll(request.arguments());
        }
        return new RedisRequest(description, BATCH, shard, keys, arguments);
    }
}
