package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs requests for many lock ids: one script for each shard that has some of them, all at the same time. Answers are
 * in the order of the items.
 */
final class RedisShardedRequests {

    /**
     * A kind of request for many lock ids.
     *
     * @param <I> the item for one lock id
     * @param <A> the answer to an item
     */
    interface Kind<I, A> {

        KeyedLockId idOf(I item);

        /**
         * Creates the request for the items of one shard.
         *
         * @param locks the locks of the items, in their order
         */
        RedisRequest request(List<RedisLock> locks, List<I> items);

        A read(RedisReply reply, int index);

        /** The answer for a lock id that nobody has. */
        A notFound();

        /** The answer for each lock id of a shard that failed while others answered; or throws the error. */
        A failed(LockBackendException error);
    }

    private final RedisScriptRunner scripts;
    private final RedisLockIds lockIds;

    RedisShardedRequests(RedisScriptRunner scripts, RedisLockIds lockIds) {
        this.scripts = scripts;
        this.lockIds = lockIds;
    }

    /**
     * Runs the requests of all shards.
     *
     * @param limit for all of them together, in milliseconds
     * @throws LockBackendException if all of them failed
     */
    <I, A> List<A> run(Kind<I, A> kind, List<I> items, long limit) {
        List<Part<I, A>> parts = parts(kind, items, limit);
        List<RedisRequest> requests = parts.stream().map(Part::request).toList();
        List<Supplier<RedisReply>> replies = scripts.start(requests, limit);
        for (int i = 0; i < parts.size(); i++) {
            parts.get(i).await(requests.get(i), replies.get(i));
        }
        List<A> answers = new ArrayList<>(Collections.nCopies(items.size(), kind.notFound()));
        boolean anyAnswered = parts.stream().anyMatch(part -> part.error == null);
        for (Part<I, A> part : parts) {
            part.putInto(answers, anyAnswered);
        }
        return answers;
    }

    private <I, A> List<Part<I, A>> parts(Kind<I, A> kind, List<I> items, long limit) {
        List<@Nullable RedisLock> locks =
                lockIds.locksOf(items.stream().map(kind::idOf).toList(), limit);
        Map<RedisShard, Part<I, A>> parts = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i++) {
            RedisLock lock = locks.get(i);
            if (lock != null) {
                parts.computeIfAbsent(lock.shard(), any -> new Part<>(kind)).add(i, lock, items.get(i));
            }
        }
        return List.copyOf(parts.values());
    }

    /** The request to one shard, and its outcome. */
    private static final class Part<I, A> {

        private final Kind<I, A> kind;
        private final List<Integer> indexes = new ArrayList<>();
        private final List<RedisLock> locks = new ArrayList<>();
        private final List<I> items = new ArrayList<>();
        private List<A> answers = List.of();
        private @Nullable LockBackendException error;

        Part(Kind<I, A> kind) {
            this.kind = kind;
        }

        void add(int index, RedisLock lock, I item) {
            indexes.add(index);
            locks.add(lock);
            items.add(item);
        }

        RedisRequest request() {
            return kind.request(locks, items);
        }

        void await(RedisRequest request, Supplier<RedisReply> reply) {
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
