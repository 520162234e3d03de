package io.syncguard.verification.queue;

/** Locks in Redis. */
class RedisDeadWaiterTests extends DeadWaiterContract {

    RedisDeadWaiterTests() {
        super(new RedisQueueServer());
    }
}
