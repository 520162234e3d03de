package io.syncguard.redis;

/** The same silences when each acquire request and each release of callers is in a batch. */
class RedisBatchedSilenceTests extends RedisSilenceTests {

    @Override
    RedisBatching batching() {
        return RedisBatching.ALWAYS;
    }
}
