package io.syncguard.redis;

/** The same errors when each acquire request and each release of callers is in a batch. */
class RedisBatchedServerErrorsTests extends RedisServerErrorsTests {

    @Override
    RedisBatching batching() {
        return RedisBatching.ALWAYS;
    }
}
