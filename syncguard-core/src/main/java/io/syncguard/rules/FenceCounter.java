package io.syncguard.rules;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.FenceSource;

/** The fence counter of a key while a rule works on it. */
final class FenceCounter {

    /** The largest fence that the clock alone gives. It leaves fences for the time when the clock is right again. */
    private static final long LAST_BY_CLOCK = 810_000_000_000_000L;

    private final FenceSource source;
    private final String key;
    private long last;

    FenceCounter(FenceSource source, String key, long last) {
        this.source = source;
        this.key = key;
        this.last = last;
    }

    /** Zero if none was drawn. */
    long last() {
        return last;
    }

    boolean hasNext() {
        return last < Fence.MAX_VALUE;
    }

    Fence next(long now) {
        if (!hasNext()) {
            throw new LockBackendException(LockErrorCode.INTERNAL, "The key '" + key + "' has no fences left", null);
        }
        long byClock = source == FenceSource.CLOCK ? Math.min(now * 100, LAST_BY_CLOCK) : 0;
        last = Math.max(last + 1, byClock);
        return new Fence(last);
    }
}
