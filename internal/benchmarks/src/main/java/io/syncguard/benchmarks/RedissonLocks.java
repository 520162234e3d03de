package io.syncguard.benchmarks;

import io.lettuce.core.RedisURI;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's {@code RLock} with its defaults: up to 64 connections, and a watchdog that extends held locks. */
final class RedissonLocks {

    private RedissonLocks() {}

    static WaitingContender open(String url) {
        RedissonClient client = client(url);
        return new JdkLocks(client::getLock, () -> client.shutdown(0, 1, TimeUnit.SECONDS));
    }

    static RedissonClient client(String url) {
        RedisURI server = RedisURI.create(url);
        Config config = new Config();
        config.useSingleServer()
                .setAddress("redis://" + server.getHost() + ":" + server.getPort())
                .setDatabase(server.getDatabase());
        return Redisson.create(config);
    }
}
