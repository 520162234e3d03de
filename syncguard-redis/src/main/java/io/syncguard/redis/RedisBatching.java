package io.syncguard.redis;

/** Which requests of callers share a script call with those of other threads. */
public enum RedisBatching {

    /** Requests that arrive while many others are under way. */
    AUTO,

    /** No requests. */
    OFF,

    /** All requests, even a single one, as far as possible. For tests. */
    ALWAYS
}
