package io.syncguard.stress;

/** Locks in Redis. */
class RedisInterruptStormTests extends InterruptStormContract {

    RedisInterruptStormTests() {
        super(new RedisQueueServer());
    }
}
