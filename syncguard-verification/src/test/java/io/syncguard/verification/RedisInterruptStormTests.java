package io.syncguard.verification;

/** Locks in Redis. */
class RedisInterruptStormTests extends InterruptStormContract {

    RedisInterruptStormTests() {
        super(new RedisQueueServer());
    }
}
