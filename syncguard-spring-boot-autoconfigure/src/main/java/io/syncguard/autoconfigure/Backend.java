package io.syncguard.autoconfigure;

/**
 * Where locks are kept.
 */
enum Backend {

    /** In the database of a DataSource. */
    POSTGRES,

    /** In the Redis of a LettuceConnectionFactory. */
    REDIS
}
