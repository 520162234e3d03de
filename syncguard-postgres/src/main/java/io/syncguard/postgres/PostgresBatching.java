package io.syncguard.postgres;

/** Which requests of callers share a statement with those of other threads. */
public enum PostgresBatching {

    /** Requests that arrive while other statements are under way. */
    AUTO,

    /** No requests. */
    OFF,

    /** All requests, even a single one, as far as possible. Slower than {@code AUTO}; for tests. */
    ALWAYS
}
