package io.syncguard.redis;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Compares the settings of this process with those stored under its prefix: version of the layout, number of shards,
 * and source of the fences. The first process stores them. A process with another version could not read the locks of
 * the others. With another number of shards it would not find them, and its fences would begin again. With fences from
 * counters it would begin at 1 where a counter was deleted; the change to the clock is safe.
 */
final class RedisLayout {

    /** Increases when a version of the library cannot share keys with the previous one. */
    static final String VERSION = "2";

    private static final RedisScript LAYOUT = RedisScript.named("layout");

    private final RedisSettings settings;
    private final String prefix;
    private final String fences;

    RedisLayout(RedisSettings settings) {
        this.settings = settings;
        this.prefix = settings.keys().prefix();
        this.fences = settings.fences().source().name().toLowerCase(Locale.ROOT);
    }

    /**
     * Compares the settings with the stored ones, in one round trip.
     *
     * @throws LockBackendException with {@code INVALID_ARGUMENT} if they differ
     */
    void check(BaseRedisAsyncCommands<byte[], byte[]> commands) {
        RedisFuture<List<Object>> reply = LAYOUT.runText(
                commands,
                new RedisArguments().add(prefix + "layout"),
                new RedisArguments().add(VERSION).add(settings.shards()).add(fences));
        List<Object> answer =
                LettuceFutures.awaitOrCancel(reply, settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
        RedisReply stored = new RedisReply(answer);
        requireVersion(stored.text(0));
        requireShards(stored.text(1));
        requireFences(stored.text(2));
    }

    private void requireVersion(String stored) {
        if (!stored.equals(VERSION)) {
            throw refused(LockSetupException.invalid(
                    "The keys under '" + prefix + "' have layout " + stored + " of another version of SyncGuard, and"
                            + " this version has layout " + VERSION + ": neither can read the locks of the other",
                    "Run the same version of SyncGuard in all instances",
                    "To change the version, stop all instances, set another syncguard.redis.key-prefix and see"
                            + " \"Upgrade\" in docs/run.md"));
        }
    }

    private void requireShards(String stored) {
        if (!stored.equals(Integer.toString(settings.shards()))) {
            throw refused(LockSetupException.invalid(
                    "syncguard.redis.shards is " + settings.shards() + ", but the keys under '" + prefix
                            + "' are spread over " + stored + " shard(s): held locks would not be found, and fences"
                            + " would begin again",
                    "Set syncguard.redis.shards=" + stored,
                    "To change the number, stop all instances, set another syncguard.redis.key-prefix and see"
                            + " \"Another number of shards\" in docs/redis.md"));
        }
    }

    private void requireFences(String stored) {
        if (!stored.equals(fences)) {
            throw refused(LockSetupException.invalid(
                    "syncguard.fences is " + fences + ", but the fences of the keys under '" + prefix
                            + "' come from the " + stored + ", and their source cannot change back: counters that were"
                            + " forgotten would begin at 1 again",
                    "Set syncguard.fences=" + stored,
                    "Use another syncguard.redis.key-prefix"));
        }
    }

    /** Returns an exception that a lock operation can report, too, if Redis was unavailable at the start. */
    private static LockBackendException refused(LockSetupException reason) {
        return new LockBackendException(LockErrorCode.INVALID_ARGUMENT, String.valueOf(reason.getMessage()), reason);
    }
}
