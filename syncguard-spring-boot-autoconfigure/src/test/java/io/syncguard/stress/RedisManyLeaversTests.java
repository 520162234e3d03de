package io.syncguard.stress;

/** Locks in Redis. */
class RedisManyLeaversTests extends ManyLeaversContract {

    RedisManyLeaversTests() {
        super(new RedisQueueServer());
    }
}
