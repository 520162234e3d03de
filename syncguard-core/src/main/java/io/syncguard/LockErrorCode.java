package io.syncguard;

/**
 * What kind of error a {@link LockException} reports, the same on every backend.
 */
public enum LockErrorCode {

    /**
     * The server cannot be reached, is starting, stopping or read-only, or gave up on a transaction. Trying again later
     * may succeed.
     */
    SERVICE_UNAVAILABLE,

    /** The server refused the credentials, or the user lacks a privilege. */
    AUTH_FAILED,

    /** A key, lock id, ttl or setting is outside its limits. Nothing was sent, or the server refused a value. */
    INVALID_ARGUMENT,

    /**
     * The tables or functions are missing or of an older version. The message names the property or the script that
     * mends it.
     */
    SCHEMA_MISSING,

    /** The server or the connection pool has no capacity left, or too many reactive calls wait already. */
    RATE_LIMITED,

    /** The server did not answer in time. */
    NETWORK_TIMEOUT,

    /** The wait time is over and somebody else still holds the key: {@link LockNotAcquiredException}. */
    ACQUISITION_TIMEOUT,

    /**
     * The lease ended before its holder released it: {@link LockLostException}. Or a resource refused a fence,
     * because it had seen a larger one: {@link StaleFenceException}.
     */
    LOST,

    /** The caller was interrupted, or the application is shutting down. */
    ABORTED,

    /** Any other error, such as an exhausted fence counter. */
    INTERNAL;

    /**
     * Whether the server may have executed the request, or may still do so. A request that was surely not sent has no
     * effect, whatever its code.
     */
    public boolean isInDoubt() {
        return switch (this) {
            case SERVICE_UNAVAILABLE, NETWORK_TIMEOUT, ABORTED, INTERNAL -> true;
            case AUTH_FAILED, INVALID_ARGUMENT, SCHEMA_MISSING, RATE_LIMITED, ACQUISITION_TIMEOUT, LOST -> false;
        };
    }

    /** Whether the store may serve a later request although nobody repairs anything. */
    public boolean isTransient() {
        return switch (this) {
            case SERVICE_UNAVAILABLE, NETWORK_TIMEOUT, RATE_LIMITED -> true;
            case AUTH_FAILED, INVALID_ARGUMENT, SCHEMA_MISSING, ACQUISITION_TIMEOUT, LOST, ABORTED, INTERNAL -> false;
        };
    }
}
