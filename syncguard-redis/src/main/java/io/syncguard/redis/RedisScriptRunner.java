package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AnswerLimit;
import io.syncguard.spi.Answers;
import io.syncguard.spi.StoreInfo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts: each by its digest, and by its text if the server does not know the digest. Thread-safe; all requests
 * use one connection. The driver's thread delivers the answer, and its timer ends a request without one: the limit
 * covers all steps, the connection if there is none yet among them.
 *
 * <p>Does not use {@code RedisTemplate}, which joins a transaction of the caller: within {@code MULTI} the server
 * answers no request before the end of the transaction.
 */
final class RedisScriptRunner {

    /** Time for the driver to read the data that arrived while the process was paused: 100 ms. */
    private static final long READING_MILLIS = 100;

    private static final long READING_NANOS = TimeUnit.MILLISECONDS.toNanos(READING_MILLIS);

    private final RedisConnections connections;
    private final Duration timeout;
    private final Time time;

    RedisScriptRunner(RedisConnections connections, RedisSettings settings, Time time) {
        this.connections = connections;
        this.timeout = settings.timeout();
        this.time = time;
    }

    /** Runs a request that concerns no lease, and waits for the answer. */
    <T> T run(RedisRequest request, Function<RedisReply, T> reader) {
        return Answers.await(() -> send(request, limit(), reader));
    }

    /** Runs a request of a caller, who waits on its own thread and reads the answer there: limit in milliseconds. */
    <T> T run(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        long deadline = deadline(limit);
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        send(connect(request.description(), limit), request, reply);
        List<Object> items = await(reply, deadline, error -> translate(request.description(), error, limit));
        return read(request, new RedisReply(items), reader);
    }

    /** Waits for a reply, and cancels it if it does not arrive in time. */
    <T> T await(Future<T> reply, long deadline, Function<Throwable, LockBackendException> translator) {
        return call(() -> await(reply, deadline), translator);
    }

    /** Returns the time at which a limit in milliseconds ends that begins now. */
    long deadline(long limit) {
        return time.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limit);
    }

    /** Sends requests at the same time. */
    List<CompletableFuture<RedisReply>> sendAll(List<RedisRequest> requests, long limit) {
        return requests.stream()
                .map(request -> send(request, limit, reply -> reply))
                .toList();
    }

    /**
     * Sends a request.
     *
     * @param limit in milliseconds
     * @return the answer, or a {@link LockBackendException}. Who cancels it keeps the driver from sending the request
     *     if it is still queued there
     */
    <T> CompletableFuture<T> send(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> connection = connections.attempt();
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        connection.whenComplete((commands, error) -> {
            if (error != null) {
                reply.completeExceptionally(error);
            } else if (!reply.isDone()) {
                send(commands, request, reply);
            }
        });
        endAfter(limit, reply);
        CompletableFuture<T> answer = reply.handle((items, error) -> {
            if (error != null) {
                throw isConnected(connection)
                        ? translate(request.description(), error, limit)
                        : notSent(request.description(), error);
            }
            return read(request, new RedisReply(items), reader);
        });
        answer.whenComplete((any, error) -> reply.cancel(false));
        return answer;
    }

    /** Sends requests of callers in one script. Each has a time limit of its own. */
    CompletableFuture<List<Object>> sendBatch(List<RedisRequest> requests) {
        RedisRequest batch = RedisRequest.batch("running " + requests.size() + " operations", requests);
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        // The callers have waited for the connection before.
        send(connect(batch.description(), 0), batch, reply);
        return reply;
    }

    private static boolean isConnected(CompletableFuture<?> connection) {
        return connection.isDone() && !connection.isCompletedExceptionally();
    }

    /** Sends the digest of a script, and then its text if the server does not know the script. */
    private static void send(
            BaseRedisAsyncCommands<byte[], byte[]> commands,
            RedisRequest request,
            CompletableFuture<List<Object>> answer) {
        forward(() -> request.run(commands), answer, error -> {
            if (error instanceof RedisNoScriptException && !answer.isDone()) {
                // The server has not run the script since its start.
                forward(() -> request.runText(commands), answer, answer::completeExceptionally);
            } else {
                answer.completeExceptionally(error);
            }
        });
    }

    private static void forward(
            Supplier<RedisFuture<List<Object>>> command,
            CompletableFuture<List<Object>> answer,
            Consumer<Throwable> onError) {
        RedisFuture<List<Object>> reply;
        try {
            reply = command.get();
        } catch (RuntimeException ex) {
            // Without a connection, the driver throws at once.
            answer.completeExceptionally(ex);
            return;
        }
        reply.whenComplete((items, error) -> {
            if (error == null) {
                answer.complete(items);
            } else {
                onError.accept(error);
            }
        });
        // When nobody waits any more, the driver drops a command that it has queued, and the text is not sent either.
        answer.whenComplete((any, error) -> reply.cancel(false));
    }

    /**
     * A timer may run late because it had no thread, perhaps while the process was paused. The answer may have arrived
     * by then, and is read next.
     */
    private void endAfter(long limit, CompletableFuture<?> reply) {
        Timer timer = connections.timer();
        Timeout end = timer.newTimeout(
                any -> timer.newTimeout(
                        late -> reply.completeExceptionally(new TimeoutException()),
                        READING_MILLIS,
                        TimeUnit.MILLISECONDS),
                limit,
                TimeUnit.MILLISECONDS);
        reply.whenComplete((any, error) -> end.cancel());
    }

    /** Returns the master of a slot of a cluster, as far as the driver knows. */
    @Nullable
    RedisClusterNode masterOf(int slot) {
        return connections.masterOf(slot);
    }

    /** Translates an error, and closes the connections to a server that is not the master. */
    LockBackendException translate(String doing, Throwable error) {
        Throwable reason = connections.reasonOf(error);
        connections.failed(reason);
        return RedisErrors.translate(doing, connections.server(), reason);
    }

    /**
     * Translates the error of a request that was sent.
     *
     * @param limit in milliseconds
     */
    LockBackendException translate(String doing, Throwable error, long limit) {
        return new AnswerLimit(Duration.ofMillis(limit), timeout, "syncguard.redis.network-timeout")
                .addTo(translate(doing, error));
    }

    /** Translates like {@link #translate} the error of a request that was not sent. */
    LockBackendException notSent(String doing, Throwable error) {
        Throwable reason = connections.reasonOf(error);
        connections.failed(reason);
        return RedisErrors.notSent(doing, connections.server(), reason);
    }

    /** Waits for the answer to a command. */
    <T> T await(String doing, Future<T> reply) {
        return await(reply, deadline(limit()), error -> translate(doing, error, limit()));
    }

    private <T> T await(Future<T> reply, long deadline)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return reply.get(Math.max(0, deadline - time.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException ex) {
            if (time.nanoTime() - deadline < READING_NANOS) {
                throw ex;
            }
            // The process was paused, and with it the reading thread. The reply may have arrived in time.
            return reply.get(READING_NANOS, TimeUnit.NANOSECONDS);
        } finally {
            // Stops the driver from sending the command if it is still queued there.
            reply.cancel(false);
        }
    }

    /**
     * Opens the connection if there is none yet.
     *
     * @param doing the operation, for messages
     * @param limit in milliseconds
     */
    BaseRedisAsyncCommands<byte[], byte[]> connect(String doing, long limit) {
        return call(() -> connections.attempt().get(limit, TimeUnit.MILLISECONDS), error -> notSent(doing, error));
    }

    /**
     * Opens the first connection at the start. No caller waits, so it may take two timeouts. They begin after the
     * driver is loaded: in a new JVM on a busy machine, loading alone may take longer than a request.
     */
    void connectAtStart() {
        String doing = "checking the number of shards";
        call(
                () -> {
                    connections.begin();
                    return true;
                },
                error -> notSent(doing, error));
        long deadline = deadline(2 * limit());
        while (true) {
            try {
                connect(doing, TimeUnit.NANOSECONDS.toMillis(deadline - time.nanoTime()));
                return;
            } catch (LockBackendException ex) {
                // The driver gave up after one timeout. The next attempt succeeds, or shows why there is no connection.
                if (ex.code() != LockErrorCode.NETWORK_TIMEOUT || deadline - time.nanoTime() <= 0) {
                    throw ex;
                }
            }
        }
    }

    /** The limit for a request that concerns no lease, in milliseconds. */
    long limit() {
        return timeout.toMillis();
    }

    /** The limit for a request that concerns a lease, in milliseconds. */
    long limit(Duration ttl) {
        return StoreInfo.timeout(timeout, ttl).toMillis();
    }

    static <T> T read(RedisRequest request, RedisReply reply, Function<RedisReply, T> reader) {
        try {
            return reader.apply(reply);
        } catch (LockBackendException ex) {
            throw ex;
        } catch (RuntimeException ex) {
            throw RedisErrors.malformed(request.description(), ex);
        }
    }

    private <T> T call(Callable<T> step, Function<Throwable, LockBackendException> translator) {
        try {
            return step.call();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw translator.apply(ex);
        } catch (ExecutionException ex) {
            throw translator.apply(ex.getCause() == null ? ex : ex.getCause());
        } catch (Exception ex) {
            throw translator.apply(ex);
        }
    }
}
