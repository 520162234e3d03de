package io.syncguard.verification;

/** Locks in Redis. */
class RedisManyProcessesTests extends ManyProcessesContract {

    RedisManyProcessesTests() {
        super(new RedisQueueServer());
    }
}
