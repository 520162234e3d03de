package io.syncguard.redis;

import io.syncguard.LockBackendException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs requests for many lock ids: one script for each shard that has some of them, all at the same time. The answers
 * come in the order of the items.
 */
final class RedisShardedRequests {

    /**
     * A kind of request for many lock ids.
     *
     * @param <I> what is asked for one lock id
     * @param <A> the answer to it
     */
    interface Kind<I, A> {

        String lockId(I item);

        /** The request for those of one shard. */
        RedisRequest request(RedisShard shard, List<I> items);

        A read(RedisReply reply, int index);

        /** The answer for a lock id without a shard. */
        A notFound();

        /** The answer for each lock id of a shard that failed while others answered; or throws the error. */
        A failed(LockBackendException error);
    }

    private final RedisScriptRunner scripts;
    private final RedisShards shards;

    RedisShardedRequests(RedisScriptRunner scripts, RedisShards shards) {
        this.scripts = scripts;
        this.shards = shards;
    }

    /**
     * Runs the requests of all shards.
     *
     * @param limit for all of them together, in milliseconds
     * @throws LockBackendException when all of them failed
     */
    <I, A> List<A> run(Kind<I, A> kind, List<I> items, long limit) {
        Collection<Part<I, A>> parts = parts(kind, items);
        List<Supplier<RedisReply>> replies =
                scripts.start(parts.stream().map(part -> part.request).toList(), limit);
        int next = 0;
        for (Part<I, A> part : parts) {
            part.await(replies.get(next++));
        }
        List<A> answers = new ArrayList<>(Collections.nCopies(items.size(), kind.notFound()));
        boolean anyAnswered = parts.stream().anyMatch(part -> part.error == null);
        for (Part<I, A> part : parts) {
            part.putInto(answers, anyAnswered);
        }
        return answers;
    }

    private <I, A> Collection<Part<I, A>> parts(Kind<I, A> kind, List<I> items) {
        Map<RedisShard, List<Integer>> places = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i++) {
            RedisShard shard = shards.ofLockId(kind.lockId(items.get(i)));
            if (shard != null) {
                places.computeIfAbsent(shard, any -> new ArrayList<>()).add(i);
            }
        }
        List<Part<I, A>> parts = new ArrayList<>();
        places.forEach((shard, indexes) -> parts.add(new Part<>(kind, shard, items, indexes)));
        return parts;
    }

    /** The request to one shard, and its outcome. */
    private static final class Part<I, A> {

        private final Kind<I, A> kind;
        private final List<Integer> indexes;
        private final RedisRequest request;
        private List<A> answers = List.of();
        private @Nullable LockBackendException error;

        Part(Kind<I, A> kind, RedisShard shard, List<I> items, List<Integer> indexes) {
            this.kind = kind;
            this.indexes = indexes;
            this.request = kind.request(shard, indexes.stream().map(items::get).toList());
        }

        void await(Supplier<RedisReply> reply) {
            try {
                RedisReply answer = reply.get();
                answers = RedisScriptRunner.read(
                        request, answer, read -> read.answers(indexes.size(), i -> kind.read(read, i)));
            } catch (LockBackendException ex) {
                error = ex;
            }
        }

        void putInto(List<A> all, boolean anyAnswered) {
            if (error != null && !anyAnswered) {
                throw error;
            }
            for (int i = 0; i < indexes.size(); i++) {
                all.set(indexes.get(i), error == null ? answers.get(i) : kind.failed(error));
            }
        }
    }
}
