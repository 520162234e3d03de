package io.syncguard.verification.queue;

/** Locks in Redis. */
class RedisQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    RedisQueueAcrossProcessesTests() {
        super(new RedisQueueServer());
    }
}
