package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts. One time limit covers all steps: the connection if there is none yet, the script by its digest, and by
 * its text if the server does not know the digest. Thread-safe; all requests use one connection.
 *
 * <p>Does not use {@code RedisTemplate}, which joins a transaction of the caller: within {@code MULTI} the server
 * answers no request before the end of the transaction.
 */
final class RedisScriptRunner {

    /** The shortest limit, in milliseconds. TCP repeats a lost packet after 200 ms. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    /** Time for the driver to read the data that arrived while the process was paused: 100 ms. */
    private static final long READING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final RedisConnections connections;
    private final Duration timeout;
    private final Time time;

    RedisScriptRunner(RedisConnections connections, RedisSettings settings, Time time) {
        this.connections = connections;
        this.timeout = settings.timeout();
        this.time = time;
    }

    /** Runs a request that concerns no lease, in one round trip. */
    <T> T run(RedisRequest request, Function<RedisReply, T> reader) {
        return run(request, limit(), reader);
    }

    /** Runs a request within the limit for a lease with this ttl, in one round trip. */
    <T> T run(RedisRequest request, Duration ttl, Function<RedisReply, T> reader) {
        return run(request, limit(ttl), reader);
    }

    /** Runs a request within a limit in milliseconds, in one round trip. */
    <T> T run(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        long deadline = deadline(limit);
        BaseRedisAsyncCommands<byte[], byte[]> commands = connect(request.description(), limit);
        return read(request, start(request, commands, deadline).get(), reader);
    }

    /**
     * Sends requests to their shards, all at the same time, without waiting for the answers.
     *
     * @param limit for all of them together, in milliseconds
     * @return for each request, in their order, a supplier that waits for its answer
     * @throws LockBackendException if none was sent, because there is no connection
     */
    List<Supplier<RedisReply>> start(List<RedisRequest> requests, long limit) {
        if (requests.isEmpty()) {
            return List.of();
        }
        long deadline = deadline(limit);
        BaseRedisAsyncCommands<byte[], byte[]> commands =
                connect(requests.get(0).description(), limit);
        List<Supplier<RedisReply>> replies = new ArrayList<>(requests.size());
        for (RedisRequest request : requests) {
            replies.add(start(request, commands, deadline));
        }
        return replies;
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

    /** Waits for a reply, and cancels it if it does not arrive in time. */
    <T> T await(Future<T> reply, long deadline, Function<Throwable, LockBackendException> translator) {
        return call(() -> await(reply, deadline), translator);
    }

    /** Returns the time at which a limit in milliseconds ends that begins now. */
    long deadline(long limit) {
        return time.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limit);
    }

    /**
     * Opens the connection if there is none yet.
     *
     * @param doing the operation, for messages
     * @param limit in milliseconds
     */
    BaseRedisAsyncCommands<byte[], byte[]> connect(String doing, long limit) {
        return call(() -> connections.commands(limit), error -> notSent(doing, error));
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

    /** Does the same as {@link #translate} for a request that was not sent. */
    LockBackendException notSent(String doing, Throwable error) {
        Throwable reason = connections.reasonOf(error);
        connections.failed(reason);
        return RedisErrors.notSent(doing, connections.server(), reason);
    }

    /** The limit for a request that concerns no lease, in milliseconds. */
    long limit() {
        return timeout.toMillis();
    }

    /**
     * The limit for a request that concerns a lease, in milliseconds: less than a third of the ttl, so that a heartbeat
     * has time for a second attempt.
     */
    long limit(Duration ttl) {
        return Math.max(SHORTEST_TIMEOUT_MILLIS, Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1));
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

    private Supplier<RedisReply> start(
            RedisRequest request, BaseRedisAsyncCommands<byte[], byte[]> commands, long deadline) {
        Function<Throwable, LockBackendException> translator = error -> translate(request.description(), error);
        Callable<List<?>> reply;
        try {
            reply = send(request, commands, deadline);
        } catch (RuntimeException ex) {
            reply = () -> {
                throw ex;
            };
        }
        Callable<List<?>> step = reply;
        return () -> new RedisReply(call(step, translator));
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

    private Callable<List<?>> send(
            RedisRequest request, BaseRedisAsyncCommands<byte[], byte[]> commands, long deadline) {
        RedisFuture<List<Object>> known = request.run(commands);
        return () -> {
            try {
                return await(known, deadline);
            } catch (ExecutionException ex) {
                if (!(ex.getCause() instanceof RedisNoScriptException)) {
                    throw ex;
                }
                // The server has not run the script since its start. Send the text only while the caller still waits.
                requireTimeBefore(deadline);
                return await(request.runText(commands), deadline);
            }
        };
    }

    private void requireTimeBefore(long deadline) throws TimeoutException {
        if (deadline - time.nanoTime() <= 0) {
            throw new TimeoutException();
        }
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
}
