package io.syncguard.verification.stress;

import org.junit.jupiter.api.Tag;

/** Locks in a Redis that is killed and started again, and remembers what it has answered. */
@Tag("verification")
class RedisStressTests extends StressContract {

    RedisStressTests() {
        super(RedisStressServer::new);
    }
}
