package io.syncguard.redis;

import org.junit.jupiter.api.Tag;

/** The same silences when each acquire request and each release of callers is in a batch. */
@Tag("verification")
class RedisBatchedSilenceTests extends RedisSilenceTests {

    @Override
    RedisBatching batching() {
        return RedisBatching.ALWAYS;
    }
}
