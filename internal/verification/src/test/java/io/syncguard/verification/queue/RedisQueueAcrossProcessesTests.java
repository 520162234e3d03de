package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in Redis. */
@Tag("verification")
class RedisQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    RedisQueueAcrossProcessesTests() {
        super(new RedisQueueServer());
    }
}
