package io.syncguard.stress;

/** Locks in Redis. */
class RedisWakeUpStressTests extends WakeUpStressContract {

    RedisWakeUpStressTests() {
        super(new RedisQueueServer());
    }
}
