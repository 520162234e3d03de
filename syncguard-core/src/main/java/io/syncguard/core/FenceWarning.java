package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Warns of a key whose fences run out, at most once a minute. Thread-safe. */
final class FenceWarning {

    private static final Log log = LogFactory.getLog(FenceWarning.class);

    /** From this fence on, nine tenths of the counter's range are used up. */
    private static final long FIRST = 810_000_000_000_000L;

    private static final long PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

    private final Time time;
    private final AtomicLong next = new AtomicLong();

    FenceWarning(Time time) {
        this.time = time;
    }

    /** Warns if few fences are left after this one. */
    void check(Fence fence, String key) {
        if (fence.value() <= FIRST) {
            return;
        }
        long now = time.nanoTime();
        long due = next.get();
        if (now >= due && next.compareAndSet(due, now + PAUSE_NANOS)) {
            log.warn("The fence counter of lock '" + OneLine.of(key) + "' is at " + fence + " and ends at "
                    + Fence.MAX_VALUE);
        }
    }
}
