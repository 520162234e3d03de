package io.syncguard.memory;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.FenceSource;
import java.util.HashMap;
import java.util.Map;

/** The last fence of each key that was ever granted. The lock of the store guards it. */
final class FenceCounters {

    /** The largest fence that the clock alone gives. It leaves fences for the time when the clock is right again. */
    private static final long LAST_BY_CLOCK = 810_000_000_000_000L;

    private final FenceSource source;
    private final Map<String, Long> counters = new HashMap<>();

    FenceCounters(FenceSource source) {
        this.source = source;
    }

    /** Zero if none was drawn. */
    long last(String key) {
        return counters.getOrDefault(key, 0L);
    }

    void set(String key, long last) {
        counters.put(key, last);
    }

    void lose(String key) {
        counters.remove(key);
    }

    boolean hasNext(String key) {
        return last(key) < Fence.MAX_VALUE;
    }

    void requireNext(String key) {
        if (!hasNext(key)) {
            throw new LockBackendException(LockErrorCode.INTERNAL, "The key '" + key + "' has no fences left", null);
        }
    }

    /** @param now the clock of the store, in milliseconds */
    long next(String key, long now) {
        requireNext(key);
        long first = source == FenceSource.CLOCK ? Math.min(now * 100, LAST_BY_CLOCK) : 1;
        return counters.merge(key, first, (last, any) -> Math.max(last + 1, first));
    }
}
