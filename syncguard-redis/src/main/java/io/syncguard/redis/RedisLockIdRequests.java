package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends requests for many lock ids of one shard. */
final class RedisLockIdRequests {

    /**
     * A kind of request for many lock ids of one shard.
     *
     * @param <I> the item for one lock id
     * @param <A> the answer to an item
     */
    interface Kind<I, A> {
        KeyedLockId idOf(I item);

        /** @param locks the locks of the items, in their order */
        RedisRequest request(List<RedisLock> locks, List<I> items);

        /** Returns the answers in the order of the items. */
        List<A> read(RedisReply reply, int size);

        /** The answer for a lock id that nobody has. */
        A notFound();
    }

    /** How many lock ids one script has at most. It takes about 5 ms, in which the server serves nobody else. */
    private static final int MOST_IDS = 250;

    private final RedisScriptRunner scripts;
    private final RedisLockIds lockIds;

    RedisLockIdRequests(RedisScriptRunner scripts, RedisLockIds lockIds) {
        this.scripts = scripts;
        this.lockIds = lockIds;
    }

    /**
     * Sends the request, in several scripts at once if there are very many lock ids.
     *
     * @param limit in milliseconds
     * @return the answers in the order of the items, or a {@link io.syncguard.LockBackendException}
     */
    <I, A> CompletableFuture<List<A>> send(Kind<I, A> kind, List<I> items, long limit) {
        if (items.size() <= MOST_IDS) {
            return sendOne(kind, items, limit);
        }
        List<CompletableFuture<List<A>>> parts = new ArrayList<>();
        for (int from = 0; from < items.size(); from += MOST_IDS) {
            parts.add(sendOne(kind, items.subList(from, Math.min(items.size(), from + MOST_IDS)), limit));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
                .thenApply(any ->
                        parts.stream().flatMap(part -> part.join().stream()).toList());
    }

    private <I, A> CompletableFuture<List<A>> sendOne(Kind<I, A> kind, List<I> items, long limit) {
        return lockIds.locksOf(items.stream().map(kind::idOf).toList(), limit)
                .thenCompose(found -> sendTo(found, kind, items, limit));
    }

    private <I, A> CompletableFuture<List<A>> sendTo(
            List<@Nullable RedisLock> locks, Kind<I, A> kind, List<I> items, long limit) {
        List<A> answers = new ArrayList<>(Collections.nCopies(items.size(), kind.notFound()));
        List<RedisLock> found = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            RedisLock lock = locks.get(i);
            if (lock != null) {
                found.add(lock);
                indexes.add(i);
            }
        }
        if (found.isEmpty()) {
            return CompletableFuture.completedFuture(answers);
        }
        RedisRequest request =
                kind.request(found, indexes.stream().map(items::get).toList());
        return scripts.send(request, limit, reply -> {
            List<A> read = kind.read(reply, found.size());
            for (int i = 0; i < read.size(); i++) {
                answers.set(indexes.get(i), read.get(i));
            }
            return answers;
        });
    }
}
