package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.syncguard.LockBackendException;
import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests for which no thread waits: the driver's thread delivers the answer, and its timer ends a request
 * without one. Thread-safe.
 */
final class RedisAsyncRequests {

    /** Time for the driver to read the data that arrived while the process was paused. */
    private static final long READING_MILLIS = 100;

    /** How many lock ids one script has at most. It takes about 5 ms, in which the server serves nobody else. */
    private static final int MOST_IDS = 250;

    private final RedisScriptRunner scripts;
    private final RedisLocks locks;
    private final RedisLockIds lockIds;
    private final Timer timer;

    RedisAsyncRequests(RedisScriptRunner scripts, RedisLocks locks, RedisLockIds lockIds, Timer timer) {
        this.scripts = scripts;
        this.locks = locks;
        this.lockIds = lockIds;
        this.timer = timer;
    }

    /** Returns the number of the shard of a lock id; -1 if it has none. */
    int shardOf(String lockId) {
        RedisShard shard = locks.shardOf(lockId);
        return shard == null ? -1 : shard.number();
    }

    /**
     * Sends the request for many lock ids, in several scripts at once if there are very many.
     *
     * @param items all of one shard
     * @param limit in milliseconds
     * @return the answers in the order of the items, or a {@link LockBackendException}
     * @throws LockBackendException if the request was not sent, because there is no connection
     */
    <I, A> CompletableFuture<List<A>> send(RedisShardedRequests.Kind<I, A> kind, List<I> items, long limit) {
        List<CompletableFuture<List<A>>> parts = new ArrayList<>();
        for (int from = 0; from < items.size(); from += MOST_IDS) {
            parts.add(sendOne(kind, items.subList(from, Math.min(items.size(), from + MOST_IDS)), limit));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
                .thenApply(any ->
                        parts.stream().flatMap(part -> part.join().stream()).toList());
    }

    private <I, A> CompletableFuture<List<A>> sendOne(RedisShardedRequests.Kind<I, A> kind, List<I> items, long limit) {
        return locksOf(items.stream().map(kind::idOf).toList(), limit).thenCompose(found -> {
            List<Integer> indexes = IntStream.range(0, items.size())
                    .filter(i -> found.get(i) != null)
                    .boxed()
                    .toList();
            if (indexes.isEmpty()) {
                return CompletableFuture.completedFuture(Collections.nCopies(items.size(), kind.notFound()));
            }
            RedisRequest request = kind.request(
                    indexes.stream()
                            .map(i -> Objects.requireNonNull(found.get(i)))
                            .toList(),
                    indexes.stream().map(items::get).toList());
            return send(request, limit, reply -> reply.answers(indexes.size(), i -> kind.read(reply, i)))
                    .thenApply(answers -> {
                        List<A> all = new ArrayList<>(Collections.nCopies(items.size(), kind.notFound()));
                        for (int i = 0; i < indexes.size(); i++) {
                            all.set(indexes.get(i), answers.get(i));
                        }
                        return all;
                    });
        });
    }

    /** Returns the lock of each lock id; {@code null} for a lock id that nobody has. */
    CompletableFuture<List<@Nullable RedisLock>> locksOf(List<KeyedLockId> ids, long limit) {
        return lockIds.locksOfLater(ids, request -> send(request, limit, reply -> reply));
    }

    /** Sends one request. */
    <T> CompletableFuture<T> send(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        CompletableFuture<List<Object>> reply = send(scripts.connect(request.description(), limit), request);
        endAfter(limit, reply);
        return reply.handle((answer, error) -> {
            if (error != null) {
                throw scripts.translate(request.description(), error);
            }
            return RedisScriptRunner.read(request, new RedisReply(answer), reader);
        });
    }

    /** Sends the digest of a script, and then its text if the server does not know the script. */
    static CompletableFuture<List<Object>> send(BaseRedisAsyncCommands<byte[], byte[]> commands, RedisRequest request) {
        CompletableFuture<List<Object>> answers = new CompletableFuture<>();
        forward(request.run(commands), answers, error -> {
            if (error instanceof RedisNoScriptException) {
                // The server has not run the script since its start.
                forward(request.runText(commands), answers, answers::completeExceptionally);
            } else {
                answers.completeExceptionally(error);
            }
        });
        return answers;
    }

    /**
     * A timer may run late because it had no thread, perhaps while the process was paused. The answer may have arrived
     * by then, and is read next.
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
        // When nobody waits any more, the driver drops a command that it has queued, and the text is not sent either.
        answers.whenComplete((any, error) -> reply.cancel(false));
    }
}
