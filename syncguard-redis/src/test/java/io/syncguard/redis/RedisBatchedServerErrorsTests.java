package io.syncguard.redis;

import org.junit.jupiter.api.Tag;

/** The same errors when each acquire request and each release of callers is in a batch. */
@Tag("verification")
class RedisBatchedServerErrorsTests extends RedisServerErrorsTests {

    @Override
    RedisBatching batching() {
        return RedisBatching.ALWAYS;
    }
}
