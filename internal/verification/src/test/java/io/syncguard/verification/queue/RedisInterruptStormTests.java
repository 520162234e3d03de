package io.syncguard.verification.queue;

/** Locks in Redis. */
class RedisInterruptStormTests extends InterruptStormContract {

    RedisInterruptStormTests() {
        super(new RedisQueueServer());
    }
}
