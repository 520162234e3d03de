package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.spi.KeyedLockId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
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

    /** Returns the lock; {@code null} if nobody has the lock id. */
    @Nullable
    RedisLock lockOf(KeyedLockId id, long limit) {
        return id.key() == null ? locksOf(List.of(id), limit).get(0) : locks.of(id);
    }

    /**
     * Returns the locks in the order of the lock ids; {@code null} for a lock id that nobody has.
     *
     * @param limit in milliseconds
     * @throws LockBackendException if a shard with an unknown key does not answer
     */
    List<@Nullable RedisLock> locksOf(List<KeyedLockId> ids, long limit) {
        List<@Nullable RedisLock> found = known(ids);
        Map<RedisShard, List<Integer>> unknown = unknown(ids);
        List<RedisRequest> requests = requests(ids, unknown);
        List<Supplier<RedisReply>> replies = scripts.start(requests, limit);
        int next = 0;
        for (List<Integer> indexes : unknown.values()) {
            RedisReply reply = replies.get(next++).get();
            RedisScriptRunner.read(requests.get(0), reply, read -> put(read, indexes, ids, found));
        }
        return found;
    }

    /**
     * Does the same without blocking.
     *
     * @param ids all of one shard
     */
    CompletableFuture<List<@Nullable RedisLock>> locksOfLater(
            List<KeyedLockId> ids, Function<RedisRequest, CompletableFuture<RedisReply>> sender) {
        List<@Nullable RedisLock> found = known(ids);
        Map<RedisShard, List<Integer>> unknown = unknown(ids);
        if (unknown.isEmpty()) {
            return CompletableFuture.completedFuture(found);
        }
        return sender.apply(requests(ids, unknown).get(0))
                .thenApply(reply -> put(reply, unknown.values().iterator().next(), ids, found));
    }

    private List<@Nullable RedisLock> known(List<KeyedLockId> ids) {
        List<@Nullable RedisLock> found = new ArrayList<>(ids.size());
        ids.forEach(id -> found.add(locks.of(id)));
        return found;
    }

    /** Returns the indexes of the lock ids whose keys are unknown. */
    private Map<RedisShard, List<Integer>> unknown(List<KeyedLockId> ids) {
        Map<RedisShard, List<Integer>> unknown = new LinkedHashMap<>();
        for (int i = 0; i < ids.size(); i++) {
            RedisShard shard =
                    ids.get(i).key() == null ? locks.shardOf(ids.get(i).lockId()) : null;
            if (shard != null) {
                unknown.computeIfAbsent(shard, any -> new ArrayList<>()).add(i);
            }
        }
        return unknown;
    }

    private static List<RedisRequest> requests(List<KeyedLockId> ids, Map<RedisShard, List<Integer>> unknown) {
        List<RedisRequest> requests = new ArrayList<>();
        unknown.forEach((shard, indexes) -> requests.add(new RedisRequest(
                "looking up the keys of " + indexes.size() + " lock id(s)",
                KEYS_OF,
                shard,
                RedisArguments.of(
                        indexes.stream().map(i -> shard.id(ids.get(i).lockId())).toList()),
                new RedisArguments())));
        return requests;
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
