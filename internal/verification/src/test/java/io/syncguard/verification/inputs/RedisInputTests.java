package io.syncguard.verification.inputs;

import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.RedisServer;
import java.time.Duration;

/** Locks in Redis. */
class RedisInputTests extends LockInputContract {

    RedisInputTests() {
        super(InputSettings.of(3_000, 5));
    }

    @Override
    LockBackend open() {
        return new RedisLockBackend(
                RedisServer.connections(RedisServer.url()),
                new RedisSettings(RedisServer.newPrefix() + ":", Duration.ofSeconds(5), RedisSettings.WAITER_TTL));
    }
}
