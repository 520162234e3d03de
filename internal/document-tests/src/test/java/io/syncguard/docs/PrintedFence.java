package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;

/** The fence of the grant that the pages release by force. */
final class PrintedFence {

    private static final long VALUE = 17;

    private PrintedFence() {}

    /** Acquires a key that nobody has locked yet so often that the grant has the printed fence. */
    static LockHandle acquire(LockManager locks, String key) {
        LockRequest request = LockRequest.of(key);
        for (long fence = 1; fence < VALUE; fence++) {
            locks.acquire(request).release();
        }
        LockHandle lock = locks.acquire(request);
        assertThat(lock.fence().value()).isEqualTo(VALUE);
        return lock;
    }
}
