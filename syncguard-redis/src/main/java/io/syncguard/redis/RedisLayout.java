package io.syncguard.redis;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What is stored with the keys of a prefix: the number of shards, and the source of the fences. The first process
 * stores both. A process with another number would not find the locks of the others, and its fences would begin again.
 * A process with fences from counters would begin at 1 where a counter was forgotten; the change to the clock is safe.
 */
final class RedisLayout {

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
     * Compares both with the stored ones. One round trip.
     *
     * @throws LockBackendException with {@code INVALID_ARGUMENT} if they differ
     */
    void check(RedisScriptingAsyncCommands<byte[], byte[]> commands) {
        RedisFuture<List<?>> reply = commands.eval(
                LAYOUT.text(),
                ScriptOutputType.MULTI,
                new RedisShard(0, prefix).scriptKeys(),
                bytes(Integer.toString(settings.shards())),
                bytes(fences));
        List<?> answer = LettuceFutures.awaitOrCancel(reply, settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
        RedisReply stored = new RedisReply(answer);
        requireShards(stored.number(0));
        requireFences(stored.text(1));
    }

    private void requireShards(long stored) {
        if (stored != settings.shards()) {
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

    /** A lock operation reports it if Redis was unavailable at the start. */
    private static LockBackendException refused(LockSetupException reason) {
        return new LockBackendException(LockErrorCode.INVALID_ARGUMENT, String.valueOf(reason.getMessage()), reason);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
