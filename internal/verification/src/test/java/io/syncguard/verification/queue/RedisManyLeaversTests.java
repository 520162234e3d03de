package io.syncguard.verification.queue;

/** Locks in Redis. */
class RedisManyLeaversTests extends ManyLeaversContract {

    RedisManyLeaversTests() {
        super(new RedisQueueServer());
    }
}
