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
 * Runs one script at a time for each caller, with one limit for all that it takes: the connection, if there is none yet, the
 * script by its digest, and by its text where the server does not know it. What several threads send goes out together.
 *
 * <p>Not by {@code RedisTemplate}, which takes part in a transaction of the caller: in a {@code MULTI} nothing is answered
 * before its end.
 */
final class RedisScripts {

    /** No limit is shorter, in milliseconds: one lost packet alone is sent again after 200 ms, and reported after none. */
    private static final long SHORTEST_TIMEOUT_MILLIS = 100;

    /** So long the driver may take to read what arrived while the process stood still, 100 ms. */
    private static final long READING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final RedisConnections connections;
    private final byte[][] keys;
    private final Duration timeout;
    private final Time time;

    /**
     * @param connections of our own
     * @param start what every key begins with: by that a cluster knows the node
     * @param timeout how long an operation may take, at most
     * @param time the clock for that
     */
    RedisScripts(RedisConnections connections, String start, Duration timeout, Time time) {
        this.connections = connections;
        // Both are never there. A node from which a slot is moving asks for a key that is missing at the other node,
        // which knows no lease yet; and that one refuses whoever names several keys of which one is missing.
        this.keys = new byte[][] {bytes(start), bytes(start + "none")};
        this.timeout = timeout;
        this.time = time;
    }

    /** One round trip, for an operation that concerns no lease. */
    <T> T run(String doing, RedisScript script, List<String> arguments, Function<RedisReply, T> reader) {
        return run(doing, timeout.toMillis(), script, arguments, reader);
    }

    /**
     * One round trip. It may take less than a third of the ttl, so that a heartbeat has time for another try.
     */
    <T> T run(String doing, Duration ttl, RedisScript script, List<String> arguments, Function<RedisReply, T> reader) {
        long limit = Math.min(timeout.toMillis(), ttl.toMillis() / 3 - 1);
        return run(doing, Math.max(SHORTEST_TIMEOUT_MILLIS, limit), script, arguments, reader);
    }

    private <T> T run(
            String doing, long limit, RedisScript script, List<String> arguments, Function<RedisReply, T> reader) {
        long deadline = time.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limit);
        RedisScriptingAsyncCommands<byte[], byte[]> commands =
                ask(() -> connections.commands(limit), error -> RedisErrors.notSent(doing, error));
        List<?> items =
                ask(() -> run(commands, deadline, script, arguments), error -> RedisErrors.translate(doing, error));
        return read(doing, new RedisReply(items), reader);
    }

    private static <T> T ask(Callable<T> request, Function<Throwable, LockBackendException> translator) {
        try {
            return request.call();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw translator.apply(ex);
        } catch (ExecutionException ex) {
            throw translator.apply(ex.getCause() == null ? ex : ex.getCause());
        } catch (Exception ex) {
            throw translator.apply(ex);
        }
    }

    private List<?> run(
            RedisScriptingAsyncCommands<byte[], byte[]> commands,
            long deadline,
            RedisScript script,
            List<String> arguments)
            throws InterruptedException, ExecutionException, TimeoutException {
        byte[][] values = arguments.stream().map(RedisScripts::bytes).toArray(byte[][]::new);
        try {
            RedisFuture<List<?>> known = commands.evalsha(script.digest(), ScriptOutputType.MULTI, keys, values);
            return await(known, deadline);
        } catch (ExecutionException ex) {
            if (!(ex.getCause() instanceof RedisNoScriptException)) {
                throw ex;
            }
            // Its first time at this server, or since the server has started. What nobody would wait for is not sent.
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

    private <T> T await(Future<T> future, long deadline)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return future.get(Math.max(0, deadline - time.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException ex) {
            if (time.nanoTime() - deadline < READING_NANOS) {
                throw ex;
            }
            // The process stood still, and so did the thread that reads: the answer may have been there all the time.
            return future.get(READING_NANOS, TimeUnit.NANOSECONDS);
        } finally {
            // What has not been sent yet is not sent any more.
            future.cancel(false);
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
