package io.syncguard.redis;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The number of shards that is stored with the keys of a prefix. The first process stores it. A process with another
 * number would not find the locks of the others, and its fences would begin again.
 */
final class RedisLayout {

    private static final RedisScript LAYOUT = RedisScript.named("layout");

    private final RedisShard base;
    private final int shards;
    private final Duration timeout;

    /** @param prefix of every key, without a shard */
    RedisLayout(String prefix, int shards, Duration timeout) {
        this.base = new RedisShard(0, prefix);
        this.shards = shards;
        this.timeout = timeout;
    }

    /**
     * Compares the number with the stored one. One round trip.
     *
     * @throws LockBackendException with {@code INVALID_ARGUMENT} if they differ
     */
    void check(RedisScriptingAsyncCommands<byte[], byte[]> commands) {
        byte[] number = Integer.toString(shards).getBytes(StandardCharsets.UTF_8);
        RedisFuture<List<?>> reply = commands.eval(LAYOUT.text(), ScriptOutputType.MULTI, base.scriptKeys(), number);
        List<?> answer = LettuceFutures.awaitOrCancel(reply, timeout.toMillis(), TimeUnit.MILLISECONDS);
        long stored = new RedisReply(answer).number(0);
        if (stored != shards) {
            throw new LockBackendException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.redis.shards is " + shards + ", but the keys under '" + base.prefix()
                            + "' are spread over " + stored + " shard(s): held locks would not be found, and fences"
                            + " would begin again. Set syncguard.redis.shards=" + stored + "; or, to change the number,"
                            + " stop all instances, set another syncguard.redis.key-prefix and see"
                            + " \"Another number of shards\" in docs/redis.md",
                    null);
        }
    }
}
