package io.syncguard.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Runs scripts. One time limit covers all steps: the connection if there is none yet, the script by its digest, and by
 * its text if the server does not know the digest. Threads may share it; all requests use one connection.
 *
 * <p>It does not use {@code RedisTemplate}, which joins a transaction of the caller: within {@code MULTI} no request is
 * answered before the end of the transaction.
 */
final class RedisScriptRunner {

    /** The shortest limit, in milliseconds. TCP repeats a lost packet after 200 ms. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    /** Time for the driver to read what arrived while the process stood still, 100 ms. */
    private static final long READING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final RedisConnections connections;
    private final byte[][] keys;
    private final Duration timeout;
    private final Time time;

    /**
     * @param prefix of every key, from which a cluster finds the node
     * @param timeout how long an operation may take, at most
     */
    RedisScriptRunner(RedisConnections connections, String prefix, Duration timeout, Time time) {
        this.connections = connections;
        // Two keys that never exist. While a slot moves to another node, the old node redirects a request whose key is
        // missing to the new one, which has no leases yet. The new one refuses a request that names several missing
        // keys.
        this.keys = new byte[][] {bytes(prefix), bytes(prefix + "none")};
        this.timeout = timeout;
        this.time = time;
    }

    /** Runs a request that concerns no lease. One round trip. */
    <T> T run(RedisRequest request, Function<RedisReply, T> reader) {
        return run(request, timeout.toMillis(), reader);
    }

    /**
     * Runs a request in less than a third of the ttl, so that a heartbeat has time for a second attempt. One round
     * trip.
     */
    <T> T run(RedisRequest request, Duration ttl, Function<RedisReply, T> reader) {
        long limit = Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1);
        return run(request, Math.max(SHORTEST_TIMEOUT_MILLIS, limit), reader);
    }

    private <T> T run(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        String doing = request.description();
        long deadline = time.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limit);
        RedisScriptingAsyncCommands<byte[], byte[]> commands =
                call(() -> connections.commands(limit), error -> RedisErrors.notSent(doing, error));
        List<?> items = call(() -> send(request, commands, deadline), error -> RedisErrors.translate(doing, error));
        return read(doing, new RedisReply(items), reader);
    }

    private static <T> T call(Callable<T> step, Function<Throwable, LockBackendException> translator) {
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

    private List<?> send(RedisRequest request, RedisScriptingAsyncCommands<byte[], byte[]> commands, long deadline)
            throws InterruptedException, ExecutionException, TimeoutException {
        RedisScript script = request.script();
        byte[][] values =
                request.arguments().stream().map(RedisScriptRunner::bytes).toArray(byte[][]::new);
        try {
            RedisFuture<List<?>> known = commands.evalsha(script.digest(), ScriptOutputType.MULTI, keys, values);
            return await(known, deadline);
        } catch (ExecutionException ex) {
            if (!(ex.getCause() instanceof RedisNoScriptException)) {
                throw ex;
            }
            // The server has not run it since it started. The text is sent only while the caller still waits.
            requireTimeBefore(deadline);
            RedisFuture<List<?>> unknown = commands.eval(script.text(), ScriptOutputType.MULTI, keys, values);
            return await(unknown, deadline);
        }
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
            // The process stood still, with the thread that reads: the reply may have arrived in time.
            return reply.get(READING_NANOS, TimeUnit.NANOSECONDS);
        } finally {
            // Stops the driver from sending the command if it is still queued there.
            reply.cancel(false);
        }
    }

    private static <T> T read(String doing, RedisReply reply, Function<RedisReply, T> reader) {
        try {
            return reader.apply(reply);
        } catch (LockBackendException ex) {
            throw ex;
        } catch (RuntimeException ex) {
            throw RedisErrors.malformed(doing, ex);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
