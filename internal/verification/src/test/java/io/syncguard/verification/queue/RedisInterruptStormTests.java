package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in Redis. */
@Tag("verification")
class RedisInterruptStormTests extends InterruptStormContract {

    RedisInterruptStormTests() {
        super(new RedisQueueServer());
    }
}
