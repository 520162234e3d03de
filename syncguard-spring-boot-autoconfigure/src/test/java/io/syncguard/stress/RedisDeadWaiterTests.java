package io.syncguard.stress;

/** Locks in Redis. */
class RedisDeadWaiterTests extends DeadWaiterContract {

    RedisDeadWaiterTests() {
        super(new RedisQueueServer());
    }
}
