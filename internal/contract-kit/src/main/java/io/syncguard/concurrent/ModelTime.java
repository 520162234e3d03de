package io.syncguard.concurrent;

import java.util.concurrent.locks.Condition;

/** A clock that stands still, so that only another thread ends a wait. No timeout hides a lost wake-up. */
public final class ModelTime implements Time {

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public void await(Condition condition, long nanos) throws InterruptedException {
        condition.await();
    }

    @Override
    public void sleep(long nanos) {
        throw new IllegalStateException("Nobody wakes a thread that sleeps");
    }
}
