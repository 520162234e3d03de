package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in Redis. */
@Tag("verification")
class RedisDeadWaiterTests extends DeadWaiterContract {

    RedisDeadWaiterTests() {
        super(new RedisQueueServer());
    }
}
