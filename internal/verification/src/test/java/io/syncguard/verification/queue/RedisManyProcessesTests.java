package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in Redis. */
@Tag("verification")
class RedisManyProcessesTests extends ManyProcessesContract {

    RedisManyProcessesTests() {
        super(new RedisQueueServer());
    }
}
