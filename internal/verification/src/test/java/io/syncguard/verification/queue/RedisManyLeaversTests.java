package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in Redis. */
@Tag("verification")
class RedisManyLeaversTests extends ManyLeaversContract {

    RedisManyLeaversTests() {
        super(new RedisQueueServer());
    }
}
