package io.syncguard;

/**
 * Somebody else held the key until the wait time was over. A normal outcome of contention, not a fault.
 */
public class LockNotAcquiredException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;

    public LockNotAcquiredException(String key, String message) {
        super(LockErrorCode.ACQUISITION_TIMEOUT, message);
        this.key = key;
    }

    /** The key that is held by somebody else. */
    public String key() {
        return key;
    }
}
