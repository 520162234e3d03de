package io.syncguard.postgres;

/** Which requests of callers share a statement with those of other threads. */
public enum PostgresBatching {

    /** Those that come while other statements are under way. */
    AUTO,

    /** None. */
    OFF,

    /** All that can: also a request that comes alone. Slower than {@code AUTO}, for tests. */
    ALWAYS
}
