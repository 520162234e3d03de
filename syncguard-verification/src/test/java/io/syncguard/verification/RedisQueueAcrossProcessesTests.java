package io.syncguard.verification;

/** Locks in Redis. */
class RedisQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    RedisQueueAcrossProcessesTests() {
        super(new RedisQueueServer());
    }
}
