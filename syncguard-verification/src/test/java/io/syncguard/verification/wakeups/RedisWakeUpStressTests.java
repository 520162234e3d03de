package io.syncguard.verification.wakeups;

import io.syncguard.verification.queue.RedisQueueServer;

/** Locks in Redis. */
class RedisWakeUpStressTests extends WakeUpStressContract {

    RedisWakeUpStressTests() {
        super(new RedisQueueServer());
    }
}
