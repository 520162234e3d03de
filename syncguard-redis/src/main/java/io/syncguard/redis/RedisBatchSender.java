package io.syncguard.redis;

import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

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
        BaseRedisAsyncCommands<byte[], byte[]> commands = scripts.connect(doing, 0);
        return RedisAsyncRequests.send(commands, batch(doing, requests));
    }

    /**
     * Combines the requests into one, which answers them in their order.
     *
     * @param requests for the scripts {@code acquire} and {@code release}
     */
    static RedisRequest batch(String description, List<RedisRequest> requests) {
        String letters = requests.stream()
                .map(request -> request.script().name().substring(0, 1))
                .collect(Collectors.joining());
        return RedisRequest.joined(description, BATCH, letters, requests);
    }
}
