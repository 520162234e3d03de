package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.RequestNotSentException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Classifies the failures of a backend. */
final class BackendFailure {

    private BackendFailure() {}

    /** Whether the server may have executed the request, or may still do so. */
    static boolean isInDoubt(Throwable error) {
        return !(error instanceof RequestNotSentException)
                && (!(error instanceof LockBackendException known)
                        || known.code().isInDoubt());
    }

    /** Runs a request. A failure becomes {@link #shown one} for callers. */
    static <T extends @Nullable Object> T ask(Supplier<T> request) {
        try {
            return request.get();
        } catch (LockBackendException ex) {
            throw shown(ex);
        }
    }

    /** The failure for callers and operators, who do not know {@link RequestNotSentException}. */
    static LockBackendException shown(LockBackendException error) {
        return error instanceof RequestNotSentException
                ? new LockBackendException(error.code(), String.valueOf(error.getMessage()), error.getCause())
                : error;
    }

    /**
     * Turns what a backend throws against its contract, such as an {@link Error}, into a {@link LockBackendException}.
     *
     * @param what names what failed, such as "The release failed"
     */
    static LockBackendException of(String what, Throwable error) {
        return error instanceof LockBackendException known
                ? known
                : new LockBackendException(LockErrorCode.INTERNAL, what + ": " + error.getMessage(), error);
    }
}
