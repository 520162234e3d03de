package io.syncguard.verification;

/** Locks in Redis. */
class RedisManyLeaversTests extends ManyLeaversContract {

    RedisManyLeaversTests() {
        super(new RedisQueueServer());
    }
}
