package io.syncguard.redis;

/** Which requests of callers share a script call with those of other threads. */
public enum RedisBatching {

    /** Those that come while many other requests are under way. */
    AUTO,

    /** None. */
    OFF,

    /** All that can: also a request that comes alone. For tests. */
    ALWAYS
}
