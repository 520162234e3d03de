package io.syncguard.actuate;

import io.syncguard.LockEvent;
import io.syncguard.LockReason;
import java.time.Duration;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** Counts what becomes of the locks of one name. Thread-safe. */
final class NameTally {

    private final LongAdder acquired = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder released = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final LongAdder expired = new LongAdder();
    private final LongAccumulator longestHeldNanos = new LongAccumulator(Math::max, 0);
    private final LongAccumulator longestWaitNanos = new LongAccumulator(Math::max, 0);

    void count(EventType type, LockEvent event) {
        switch (type) {
            case ACQUIRED -> waited(acquired, event);
            case REFUSED -> waited(refused, event);
            case FAILED -> failed.increment();
            case RELEASED -> held(released, event);
            case LOST -> held(lost, event);
            case WAITING, LEAKED, FORCE_RELEASED, NOT_HELD, ELECTED, REVOKED -> {}
        }
        if (event.reason() == LockReason.EXPIRED) {
            expired.increment();
        }
    }

    NameDescriptor describe() {
        return new NameDescriptor(
                acquired.sum(),
                refused.sum(),
                failed.sum(),
                released.sum(),
                lost.sum(),
                expired.sum(),
                Duration.ofNanos(longestHeldNanos.get()),
                Duration.ofNanos(longestWaitNanos.get()));
    }

    private void waited(LongAdder outcome, LockEvent event) {
        outcome.increment();
        longestWaitNanos.accumulate(event.elapsed().toNanos());
    }

    private void held(LongAdder end, LockEvent event) {
        end.increment();
        longestHeldNanos.accumulate(event.elapsed().toNanos());
    }
}
