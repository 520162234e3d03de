package io.syncguard.verification.queue;

/** Locks in Redis. */
class RedisManyProcessesTests extends ManyProcessesContract {

    RedisManyProcessesTests() {
        super(new RedisQueueServer());
    }
}
