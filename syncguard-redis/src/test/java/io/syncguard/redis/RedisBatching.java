package io.syncguard.redis;

import io.syncguard.concurrent.Time;
import io.syncguard.core.StoreCalls;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Which requests of callers share a script call with those of other threads. */
public enum RedisBatching {

    /** Requests that arrive while many others are under way, as in an application. */
    AUTO(RedisBatcher.CALLERS),

    /** No requests. */
    OFF(Integer.MAX_VALUE),

    /** All requests, even a single one, as far as possible. */
    ALWAYS(0);

    private final int callers;

    RedisBatching(int callers) {
        this.callers = callers;
    }

    public StoreCalls backend(LettuceConnectionFactory application, RedisSettings settings) {
        return new StoreCalls(store(application, settings));
    }

    RedisLockBackend store(LettuceConnectionFactory application, RedisSettings settings) {
        return new RedisLockBackend(new RedisConnections(application, settings, ""), settings, Time.SYSTEM, callers);
    }
}
