package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Sends requests to one shard in one script, and does not wait for the answer. Threads share it. */
final class RedisBatchSender implements AsyncBatcher.Sender<RedisRequest, Object> {

    private static final RedisScript BATCH = RedisScript.named("batch");

    private final RedisScriptRunner scripts;
    private final RedisShard shard;

    RedisBatchSender(RedisScriptRunner scripts, RedisShard shard) {
        this.scripts = scripts;
        this.shard = shard;
    }

    /** On the thread of a caller or of the driver, after the callers have waited for the connection. */
    @Override
    public CompletableFuture<List<Object>> send(List<RedisRequest> requests) {
        String doing = "running " + requests.size() + " operations";
        RedisScriptingAsyncCommands<byte[], byte[]> commands = scripts.connect(doing, 0);
        byte[][] keys = shard.scriptKeys();
        byte[][] values = scripts.values(batch(doing, shard, requests));
        CompletableFuture<List<Object>> answers = new CompletableFuture<>();
        forward(commands.evalsha(BATCH.digest(), ScriptOutputType.MULTI, keys, values), answers, error -> {
            if (error instanceof RedisNoScriptException) {
                // The server has not run it since it started.
                forward(
                        commands.eval(BATCH.text(), ScriptOutputType.MULTI, keys, values),
                        answers,
                        answers::completeExceptionally);
            } else {
                answers.completeExceptionally(error);
            }
        });
        return answers;
    }

    /** These requests as one. The answers come in their order. */
    static RedisRequest batch(String description, RedisShard shard, List<RedisRequest> requests) {
        return new RedisRequest(description, BATCH, shard, arguments(requests));
    }

    private static List<String> arguments(List<RedisRequest> requests) {
        List<String> arguments = new ArrayList<>();
        for (RedisRequest request : requests) {
            arguments.add(request.script().name());
            arguments.add(Integer.toString(request.arguments().size()));
            arguments.addAll(request.arguments());
        }
        return arguments;
    }

    private static void forward(
            RedisFuture<List<Object>> reply, CompletableFuture<List<Object>> answers, Consumer<Throwable> onError) {
        reply.whenComplete((items, error) -> {
            if (error == null) {
                answers.complete(items);
            } else {
                onError.accept(error);
            }
        });
        // If nobody waits, the driver does not send a command that it has queued, and the text is not sent either.
        answers.whenComplete((any, error) -> reply.cancel(false));
    }
}
