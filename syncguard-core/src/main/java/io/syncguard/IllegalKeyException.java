package io.syncguard;

/**
 * A call has no key, too many, or one outside its limits: empty, too long, or no well-formed text. Nothing was sent.
 */
public class IllegalKeyException extends LockException {

    private static final long serialVersionUID = 1L;

    public IllegalKeyException(String message) {
        super(LockErrorCode.INVALID_ARGUMENT, message);
    }
}
