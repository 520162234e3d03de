package io.syncguard;

/**
 * The lease ended while its holder still believed in it: what the body did last may have met another holder's work.
 *
 * <p>Thrown when the body has ended, or instead of starting one. Where the body failed by itself, its own exception is
 * thrown and this one is suppressed beneath it.
 */
public class LockLostException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String key;

    public LockLostException(String key, String message) {
        super(LockErrorCode.LOST, message);
        this.key = key;
    }

    /** The key whose lease was lost. */
    public String key() {
        return key;
    }
}
