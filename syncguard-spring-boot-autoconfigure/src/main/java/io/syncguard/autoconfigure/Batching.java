package io.syncguard.autoconfigure;

import io.syncguard.postgres.PostgresBatching;
import io.syncguard.redis.RedisBatching;

/** Which requests of callers share a statement or a script with those of other threads. */
enum Batching {

    /** Requests under load. */
    AUTO,

    /** No requests. */
    OFF;

    PostgresBatching ofStatements() {
        return PostgresBatching.valueOf(name());
    }

    RedisBatching ofScripts() {
        return RedisBatching.valueOf(name());
    }
}
