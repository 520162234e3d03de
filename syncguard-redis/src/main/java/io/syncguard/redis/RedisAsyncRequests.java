package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.syncguard.LockBackendException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Requests for which no thread waits: the driver's thread brings the answer, and its timer ends a request without one.
 * Threads may share it.
 */
final class RedisAsyncRequests {

    /** Time for the driver to read what arrived while the process stood still. */
    private static final long READING_MILLIS = 100;

    private final RedisScriptRunner scripts;
    private final RedisShards shards;
    private final Timer timer;

    RedisAsyncRequests(RedisScriptRunner scripts, RedisShards shards, Timer timer) {
        this.scripts = scripts;
        this.shards = shards;
        this.timer = timer;
    }

    /** The number of the shard of a lock id; -1 if it has none. */
    int shardOf(String lockId) {
        RedisShard shard = shards.ofLockId(lockId);
        return shard == null ? -1 : shard.number();
    }

    /**
     * Sends the request for many lock ids.
     *
     * @param items all of one shard
     * @param limit in milliseconds
     * @return the answers in the order of the items, or a {@link LockBackendException}
     * @throws LockBackendException when it was not sent, because there is no connection
     */
    <I, A> CompletableFuture<List<A>> send(RedisShardedRequests.Kind<I, A> kind, List<I> items, long limit) {
        RedisShard shard = shards.ofLockId(kind.lockId(items.get(0)));
        if (shard == null) {
            return CompletableFuture.completedFuture(Collections.nCopies(items.size(), kind.notFound()));
        }
        return send(kind.request(shard, items), limit, reply -> reply.answers(items.size(), i -> kind.read(reply, i)));
    }

    /** Sends one request. */
    <T> CompletableFuture<T> send(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        CompletableFuture<List<Object>> reply = send(
                scripts.connect(request.description(), limit),
                request.script(),
                request.shard().scriptKeys(),
                scripts.values(request));
        endAfter(limit, reply);
        return reply.handle((answer, error) -> {
            if (error != null) {
                throw scripts.translate(request.description(), error);
            }
            return RedisScriptRunner.read(request, new RedisReply(answer), reader);
        });
    }

    /** Sends a script by its digest, and its text if the server does not know it. */
    static CompletableFuture<List<Object>> send(
            RedisScriptingAsyncCommands<byte[], byte[]> commands, RedisScript script, byte[][] keys, byte[][] values) {
        CompletableFuture<List<Object>> answers = new CompletableFuture<>();
        forward(commands.evalsha(script.digest(), ScriptOutputType.MULTI, keys, values), answers, error -> {
            if (error instanceof RedisNoScriptException) {
                // The server has not run it since it started.
                forward(
                        commands.eval(script.text(), ScriptOutputType.MULTI, keys, values),
                        answers,
                        answers::completeExceptionally);
            } else {
                answers.completeExceptionally(error);
            }
        });
        return answers;
    }

    /**
     * A timer that runs late had no thread, perhaps because the process stood still: the answer may have arrived, and is
     * read next.
     */
    private void endAfter(long limit, CompletableFuture<?> reply) {
        Timeout timeout = timer.newTimeout(
                any -> timer.newTimeout(
                        late -> reply.completeExceptionally(new TimeoutException()),
                        READING_MILLIS,
                        TimeUnit.MILLISECONDS),
                limit,
                TimeUnit.MILLISECONDS);
        reply.whenComplete((any, error) -> timeout.cancel());
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
