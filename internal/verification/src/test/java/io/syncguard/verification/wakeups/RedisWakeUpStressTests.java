package io.syncguard.verification.wakeups;

import io.syncguard.verification.queue.RedisQueueServer;
import org.junit.jupiter.api.Tag;

/** Locks in Redis. */
@Tag("verification")
class RedisWakeUpStressTests extends WakeUpStressContract {

    RedisWakeUpStressTests() {
        super(new RedisQueueServer());
    }
}
