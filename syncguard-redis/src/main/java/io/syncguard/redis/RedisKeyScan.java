package io.syncguard.redis;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockOrder;
import io.syncguard.LockQuery;
import io.syncguard.spi.LockSelection;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the keys of leases and queue entries. Listing must not slow down locks, however many callers list: one caller
 * scans at a time, and the waiting ones share its result. Thread-safe.
 */
final class RedisKeyScan {

    static final String DOING = "listing locks";

    /**
     * For this time after the scan of the first page, which may take a minute, further pages and a summary come from
     * the same scan.
     */
    private static final long PAGES_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The same order as in PostgreSQL. */
    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private final RedisNameScan names;
    private final Function<Set<RedisLock>, Collection<String>> keysOf;
    private final RedisPace pace;

    /** The thread that holds it scans. Not a monitor, which would pin virtual threads. */
    private final ReentrantLock turn = new ReentrantLock(true);

    /** Number of scans that have begun. Written under the turn. */
    private final AtomicLong begun = new AtomicLong();

    /** Guarded by the turn. */
    private SoftReference<Scan> last = new SoftReference<>(null);

    /** @param keysOf finds the keys of locks whose names are known */
    RedisKeyScan(RedisNameScan names, Function<Set<RedisLock>, Collection<String>> keysOf, RedisPace pace) {
        this.names = names;
        this.keysOf = keysOf;
        this.pace = pace;
    }

    /** Returns the keys that fit a query, in the order of their bytes in UTF-8. Some may be free again. */
    List<String> keys(LockQuery query) {
        NavigableSet<String> all = scan(!query.after().isEmpty());
        return (query.order() == LockOrder.KEY ? all.tailSet(query.after(), false) : all)
                .stream().filter(key -> LockSelection.fits(query, key)).toList();
    }

    /** Returns all keys. Some may be free again. A recent scan is good enough. */
    List<String> keys() {
        return List.copyOf(scan(true));
    }

    private NavigableSet<String> scan(boolean mayBeRecent) {
        long before = begun.get();
        try {
            turn.lockInterruptibly();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw RedisErrors.translate(DOING, ex);
        }
        try {
            Scan known = last.get();
            // A scan that began after this call contains all keys that existed at the call.
            if (known != null && (known.number() > before || mayBeRecent && known.isRecent(pace.now()))) {
                return known.result();
            }
            return newScan();
        } finally {
            turn.unlock();
        }
    }

    private NavigableSet<String> newScan() {
        long number = begun.incrementAndGet();
        NavigableSet<String> found = new TreeSet<>(BY_BYTES);
        try {
            found.addAll(keysOf.apply(names.locks()));
            last = new SoftReference<>(new Scan(number, pace.now(), found, null));
            return found;
        } catch (LockBackendException ex) {
            if (ex.code() != LockErrorCode.ABORTED) {
                last = new SoftReference<>(new Scan(number, pace.now(), found, ex));
            }
            throw ex;
        }
    }

    /**
     * A finished scan.
     *
     * @param number grows with each scan
     * @param ended when it ended
     * @param failure the failure of the scan, which callers that waited for it get, too
     */
    private record Scan(
            long number,
            long ended,
            NavigableSet<String> keys,
            @Nullable LockBackendException failure) {

        boolean isRecent(long now) {
            return failure == null && now - ended < PAGES_NANOS;
        }

        NavigableSet<String> result() {
            if (failure != null) {
                throw failure;
            }
            return keys;
        }
    }
}
