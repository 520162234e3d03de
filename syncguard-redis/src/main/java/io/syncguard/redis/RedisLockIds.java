package io.syncguard.redis;

import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the locks of lock ids. This takes a round trip if the caller does not know the key, as for a lease of another
 * process.
 */
final class RedisLockIds {

    private static final RedisScript KEYS_OF = RedisScript.named("keys_of");

    private final RedisScriptRunner scripts;
    private final RedisLocks locks;

    RedisLockIds(RedisScriptRunner scripts, RedisLocks locks) {
        this.scripts = scripts;
        this.locks = locks;
    }

    /**
     * Returns the locks in the order of the lock ids; {@code null} for a lock id that nobody has.
     *
     * @param ids all of one shard
     * @param limit in milliseconds
     */
    CompletableFuture<List<@Nullable RedisLock>> locksOf(List<KeyedLockId> ids, long limit) {
        List<@Nullable RedisLock> found = known(ids);
        List<Integer> unknown = unknown(ids);
        return unknown.isEmpty()
                ? CompletableFuture.completedFuture(found)
                : scripts.send(request(ids, unknown), limit, reply -> put(reply, unknown, ids, found));
    }

    private List<@Nullable RedisLock> known(List<KeyedLockId> ids) {
        List<@Nullable RedisLock> found = new ArrayList<>(ids.size());
        ids.forEach(id -> found.add(locks.of(id)));
        return found;
    }

    /** Returns the indexes of the lock ids whose keys are unknown. */
    private List<Integer> unknown(List<KeyedLockId> ids) {
        return IntStream.range(0, ids.size())
                .filter(i ->
                        ids.get(i).key() == null && locks.shardOf(ids.get(i).lockId()) != null)
                .boxed()
                .toList();
    }

    private RedisRequest request(List<KeyedLockId> ids, List<Integer> unknown) {
        RedisShard shard =
                Objects.requireNonNull(locks.shardOf(ids.get(unknown.get(0)).lockId()));
        return new RedisRequest(
                "looking up the keys of " + unknown.size() + " lock id(s)",
                KEYS_OF,
                shard,
                RedisArguments.of(
                        unknown.stream().map(i -> shard.id(ids.get(i).lockId())).toList()),
                new RedisArguments());
    }

    private List<@Nullable RedisLock> put(
            RedisReply reply, List<Integer> indexes, List<KeyedLockId> ids, List<@Nullable RedisLock> found) {
        for (int i = 0; i < indexes.size(); i++) {
            if (!reply.isNothing(i)) {
                String lockId = ids.get(indexes.get(i)).lockId();
                found.set(indexes.get(i), locks.of(new KeyedLockId(reply.text(i), lockId)));
            }
        }
        return found;
    }
}
