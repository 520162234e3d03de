package io.syncguard.redis;

import io.syncguard.spi.FenceSource;
import java.util.List;

/** Creates the requests for locks. The first argument of their scripts is the retention of a fence counter. */
final class RedisRequests {

    /** Retention of an idle counter in milliseconds; empty to keep it for ever. */
    private final String retention;

    RedisRequests(RedisSettings settings) {
        this.retention = settings.fences().source() == FenceSource.CLOCK
                ? Long.toString(settings.fences().retention().toMillis())
                : "";
    }

    /** Retention in milliseconds, from now on, of a counter whose lock has a lease with this ttl. */
    String retention(long ttlMillis) {
        return retention.isEmpty() || ttlMillis + RedisLockBackend.TOLERANCE_MILLIS <= Long.parseLong(retention)
                ? retention
                : Long.toString(ttlMillis + Long.parseLong(retention));
    }

    /** Creates a request for a whole lock. */
    RedisRequest ofLock(String description, RedisScript script, RedisLock lock, String... arguments) {
        return new RedisRequest(description, script, lock.shard(), lock.keys(), with(List.of(arguments)));
    }

    /** Creates a request for one lock id. The script gets the lock id before the other arguments. */
    RedisRequest ofLockId(String description, RedisScript script, RedisLock lock, String lockId, String... arguments) {
        RedisArguments all = new RedisArguments().add(retention).add(lockId);
        for (String argument : arguments) {
            all.add(argument);
        }
        return new RedisRequest(description, script, lock.shard(), lock.keys(lockId), all);
    }

    /**
     * Creates a request for many lock ids.
     *
     * @param locks the locks of the lock ids, all in one shard
     */
    RedisRequest ofLockIds(
            String description,
            RedisScript script,
            List<RedisLock> locks,
            List<String> lockIds,
            List<String> arguments) {
        RedisArguments keys = new RedisArguments();
        for (int i = 0; i < lockIds.size(); i++) {
            keys.addAll(locks.get(i).keys(lockIds.get(i)));
        }
        return new RedisRequest(description, script, locks.get(0).shard(), keys, with(arguments));
    }

    private RedisArguments with(List<String> arguments) {
        RedisArguments all = new RedisArguments().add(retention);
        arguments.forEach(all::add);
        return all;
    }
}
