package io.syncguard.web;

import io.syncguard.IllegalKeyException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Warns of keys that requests made illegal: once a minute at most, because any client can send them. The debug log has
 * all. Thread-safe.
 */
final class IllegalKeyLog {

    private static final Log log = LogFactory.getLog(IllegalKeyLog.class);

    private static final long PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanoTime;
    private final AtomicLong due;
    private final AtomicLong since = new AtomicLong();

    IllegalKeyLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.due = new AtomicLong(nanoTime.getAsLong());
    }

    void warn(IllegalKeyException refusal) {
        log.debug("A request was answered with 400", refusal);
        long now = nanoTime.getAsLong();
        long next = due.get();
        if (now - next >= 0 && due.compareAndSet(next, now + PAUSE_NANOS)) {
            long others = since.getAndSet(0);
            log.warn("A request was answered with 400" + (others == 0 ? "" : ", and " + others + " others before it")
                    + ": " + refusal.getMessage());
        } else {
            since.incrementAndGet();
        }
    }
}
