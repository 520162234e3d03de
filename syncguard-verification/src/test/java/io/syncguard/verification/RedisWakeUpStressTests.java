package io.syncguard.verification;

/** Locks in Redis. */
class RedisWakeUpStressTests extends WakeUpStressContract {

    RedisWakeUpStressTests() {
        super(new RedisQueueServer());
    }
}
