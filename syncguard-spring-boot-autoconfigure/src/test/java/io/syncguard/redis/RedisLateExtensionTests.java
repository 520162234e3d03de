package io.syncguard.redis;

import io.syncguard.core.LateExtensionContract;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.ServerProxy;

class RedisLateExtensionTests extends LateExtensionContract {

    @Override
    protected ServerProxy newProxy() {
        return new RedisProxy(RedisServer.url());
    }

    @Override
    protected String url() {
        return RedisServer.url();
    }
}
