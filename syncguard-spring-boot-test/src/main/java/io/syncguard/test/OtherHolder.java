package io.syncguard.test;

import io.syncguard.spi.Answers;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import java.util.List;

/**
 * Another process that holds a lock, from {@link LockTestControl#holdElsewhere}. Callers of the application wait for
 * the key or are refused until it is released. Thread-safe.
 */
public final class OtherHolder implements AutoCloseable {

    private final LockBackend process;
    private final String lockId;

    OtherHolder(LockBackend process, String lockId) {
        this.process = process;
        this.lockId = lockId;
    }

    /**
     * Releases the lock: the first caller who waits gets it. Does nothing if it was released or its lease has ended.
     */
    public void release() {
        Answers.await(() -> process.release(List.of(ReleaseRequest.handingOver(new KeyedLockId(lockId)))));
    }

    /** Like {@link #release}, for try-with-resources. */
    @Override
    public void close() {
        release();
    }
}
