package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Sends the acquire requests and releases of callers; under load, many in one script. Thread-safe. */
final class RedisBatcher {

    /**
     * Number of callers up to which each sends its own script: the driver pipelines them on one connection, which is as
     * fast. A batch of two costs the server more than two scripts.
     */
    static final int CALLERS = 4;

    /** While the server runs one batch, others arrive, and the answers to others are delivered. */
    private static final int BATCHES = 3;

    /** With two batches of up to 64, 64 threads had 0.84 times as many pairs per second. */
    private static final int BATCH_SIZE = 16;

    private final RedisScriptRunner scripts;

    /** One for each shard, in their order, so that a master that does not answer delays no other shard. */
    private final List<AsyncBatcher<RedisRequest, Object>> batchers = new ArrayList<>();

    /** @param callers number of callers up to which each sends its own script */
    RedisBatcher(RedisScriptRunner scripts, RedisShards shards, int callers) {
        this.scripts = scripts;
        AsyncBatcher.Limits limits = new AsyncBatcher.Limits(callers, BATCHES, BATCH_SIZE);
        for (int i = 0; i < shards.all().size(); i++) {
            batchers.add(new AsyncBatcher<>(scripts::sendBatch, limits));
        }
    }

    /**
     * Runs a request. One round trip.
     *
     * @param request for the script {@code acquire} or {@code release}
     * @param limit in milliseconds
     */
    <T> T run(RedisRequest request, long limit, Function<RedisReply, T> reader) {
        AsyncBatcher<RedisRequest, Object> batcher =
                batchers.get(request.shard().number());
        try {
            return batcher.enter()
                    ? scripts.run(request, limit, reader)
                    : RedisScriptRunner.read(request, inBatch(batcher, request, limit), reader);
        } finally {
            batcher.leave();
        }
    }

    private RedisReply inBatch(AsyncBatcher<RedisRequest, Object> batcher, RedisRequest request, long limit) {
        String doing = request.description();
        long deadline = scripts.deadline(limit);
        // The batch must not wait for a connection.
        scripts.connect(doing, limit);
        BatchedReply<RedisRequest, Object> sent = batcher.send(request);
        Object answer = scripts.await(
                sent,
                deadline,
                error -> sent.wasSent() ? scripts.translate(doing, error, limit) : scripts.notSent(doing, error));
        return asReply(request, answer);
    }

    private RedisReply asReply(RedisRequest request, Object answer) {
        RedisReply reply = RedisReply.of(answer);
        if (reply.text(0).equals("error")) {
            throw scripts.translate(request.description(), new RedisCommandExecutionException(reply.text(1)));
        }
        return reply;
    }
}
