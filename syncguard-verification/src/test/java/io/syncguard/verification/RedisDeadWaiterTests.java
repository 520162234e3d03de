package io.syncguard.verification;

/** Locks in Redis. */
class RedisDeadWaiterTests extends DeadWaiterContract {

    RedisDeadWaiterTests() {
        super(new RedisQueueServer());
    }
}
