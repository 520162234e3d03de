package io.syncguard.redis;

import io.syncguard.core.LateExtensionContract;
import io.syncguard.core.StoreCalls;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.ServerProxy;
import java.time.Duration;

class RedisLateExtensionTests extends LateExtensionContract {

    @Override
    protected ServerProxy newProxy() {
        return new RedisProxy(RedisServer.url());
    }

    @Override
    protected String url() {
        return RedisServer.url();
    }

    @Override
    protected StoreCalls newBackend(String url) {
        return RedisBatching.AUTO.backend(
                RedisServer.connections(url),
                new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(5), RedisSettings.WAITER_TTL));
    }
}
