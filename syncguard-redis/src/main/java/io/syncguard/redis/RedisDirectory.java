package io.syncguard.redis;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.Answers;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockDirectory;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads locks, and ends leases by force. */
final class RedisDirectory implements LockDirectory {

    private static final RedisScript IS_LOCKED = RedisScript.named("is_locked");
    private static final RedisScript LOOKUP = RedisScript.named("lookup");
    private static final RedisScript FORCE_RELEASE = RedisScript.named("force_release");

    private final RedisScriptRunner scripts;
    private final RedisRequestWriter requests;
    private final RedisLocks locks;
    private final RedisLockIds lockIds;
    private final RedisList list;

    RedisDirectory(
            RedisScriptRunner scripts,
            RedisRequestWriter requests,
            RedisLocks locks,
            RedisLockIds lockIds,
            RedisList list) {
        this.scripts = scripts;
        this.requests = requests;
        this.locks = locks;
        this.lockIds = lockIds;
        this.list = list;
    }

    @Override
    public boolean isLocked(String key) {
        return scripts.run(
                requests.ofLock("looking at lock '" + key + "'", IS_LOCKED, locks.of(key)),
                reply -> reply.number(0) == 1);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return lookup("looking up lock '" + key + "'", locks.of(key));
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        RedisLock lock = Answers.await(() -> lockIds.locksOf(List.of(id), scripts.limit()))
                .get(0);
        return lock == null
                ? Optional.empty()
                : lookup("looking up a lock by its id", lock).stream()
                        .filter(info -> info.lockId().equals(id.lockId()))
                        .findFirst();
    }

    private List<RawLockInfo> lookup(String doing, RedisLock lock) {
        return scripts.run(
                requests.ofLock(doing, LOOKUP, lock), reply -> RedisReplyReader.readInfos(reply, lock.key()));
    }

    @Override
    public LockPage list(LockQuery query) {
        return list.list(query);
    }

    @Override
    public LockSummary summary() {
        return list.summary();
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return list.status(key);
    }

    @Override
    public ForcedRelease forceRelease(String key, @Nullable Fence only) {
        String fence = only == null ? "" : only.toString();
        return scripts.run(
                requests.ofLock("releasing lock '" + key + "' by force", FORCE_RELEASE, locks.of(key), fence),
                reply -> RedisReplyReader.readForcedRelease(reply, key));
    }
}
