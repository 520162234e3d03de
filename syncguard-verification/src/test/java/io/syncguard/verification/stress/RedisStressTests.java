package io.syncguard.verification.stress;

/** Locks in a Redis that is killed and started again, and remembers what it has answered. */
class RedisStressTests extends StressContract {

    RedisStressTests() {
        super(RedisStressServer::new);
    }
}
