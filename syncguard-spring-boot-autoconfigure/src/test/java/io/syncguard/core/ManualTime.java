package io.syncguard.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;

/**
 * A clock that a test moves by hand. Who sleeps or waits on it looks at it again and again, a millisecond of real time apart.
 */
public final class ManualTime implements Time {

    private final AtomicLong now = new AtomicLong();

    /** How many threads sleep right now. */
    private final AtomicLong sleepers = new AtomicLong();

    public void advance(Duration by) {
        now.addAndGet(by.toNanos());
    }

    long sleepers() {
        return sleepers.get();
    }

    @Override
    public long nanoTime() {
        return now.get();
    }

    @Override
    public void await(Condition condition, long nanos) throws InterruptedException {
        var unused = condition.await(1, TimeUnit.MILLISECONDS);
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        long until = nanoTime() + nanos;
        sleepers.incrementAndGet();
        try {
            while (nanoTime() < until) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        } finally {
            sleepers.decrementAndGet();
        }
    }
}
