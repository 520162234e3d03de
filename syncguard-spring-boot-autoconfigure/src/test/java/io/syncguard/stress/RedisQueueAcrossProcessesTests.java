package io.syncguard.stress;

/** Locks in Redis. */
class RedisQueueAcrossProcessesTests extends QueueAcrossProcessesContract {

    RedisQueueAcrossProcessesTests() {
        super(new RedisQueueServer());
    }
}
