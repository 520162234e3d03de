package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockQuery;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Finds the keys of leases and queue entries among all keys of the server. It must not slow down locks, however many
 * callers list them and however many other keys there are: one caller scans at a time and pauses after each step, and
 * those who wait share its result. Thread-safe.
 */
final class RedisKeyScan {

    static final String DOING = "listing locks";

    private static final RedisScript SCAN = RedisScript.named("scan");

    /** How long further pages come from the scan of the first page. */
    private static final long PAGES_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** As PostgreSQL has it. */
    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private final RedisScriptRunner scripts;
    private final RedisShards shards;
    private final RedisPace pace;

    /** Its holder scans. Not a monitor, which would pin virtual threads. */
    private final ReentrantLock turn = new ReentrantLock(true);

    /** How many scans have begun. Written under the turn. */
    private final AtomicLong begun = new AtomicLong();

    /** Guarded by the turn. */
    private SoftReference<Scan> last = new SoftReference<>(null);

    RedisKeyScan(RedisScriptRunner scripts, RedisShards shards, RedisPace pace) {
        this.scripts = scripts;
        this.shards = shards;
        this.pace = pace;
    }

    /** The keys of a query in their order. Some may be free again. */
    List<String> keys(LockQuery query) {
        return scan(!query.after().isEmpty()).tailSet(query.after(), false).stream()
                .filter(key -> key.startsWith(query.prefix()))
                .toList();
    }

    private NavigableSet<String> scan(boolean furtherPage) {
        long before = begun.get();
        try {
            turn.lockInterruptibly();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw RedisErrors.translate(DOING, ex);
        }
        try {
            Scan known = last.get();
            // A scan that began after this call has all keys that were there at the call.
            if (known != null && (known.number() > before || furtherPage && known.isRecent(pace.now()))) {
                return known.result();
            }
            return newScan();
        } finally {
            turn.unlock();
        }
    }

    private NavigableSet<String> newScan() {
        long number = begun.incrementAndGet();
        long began = pace.now();
        NavigableSet<String> found = new TreeSet<>(BY_BYTES);
        try {
            shards.all().forEach(shard -> scan(shard, found));
            last = new SoftReference<>(new Scan(number, began, found, null));
            return found;
        } catch (LockBackendException ex) {
            if (ex.code() != LockErrorCode.ABORTED) {
                last = new SoftReference<>(new Scan(number, began, found, ex));
            }
            throw ex;
        }
    }

    private void scan(RedisShard shard, NavigableSet<String> found) {
        String cursor = "0";
        do {
            long sent = pace.now();
            cursor = scripts.run(
                    new RedisRequest(DOING, SCAN, shard, List.of(shard.prefix()), List.of(cursor)),
                    reply -> readStep(reply, found));
            pace.rest(DOING, sent);
        } while (!cursor.equals("0"));
    }

    private static String readStep(RedisReply reply, NavigableSet<String> found) {
        for (int i = 1; i < reply.size(); i++) {
            found.add(reply.text(i));
        }
        return reply.text(0);
    }

    /**
     * A scan that has ended.
     *
     * @param number grows with each scan
     * @param failure of the server, which those who waited for it share, too
     */
    private record Scan(
            long number,
            long began,
            NavigableSet<String> keys,
            @Nullable LockBackendException failure) {

        boolean isRecent(long now) {
            return failure == null && now - began < PAGES_NANOS;
        }

        NavigableSet<String> result() {
            if (failure != null) {
                throw failure;
            }
            return keys;
        }
    }
}
