package io.syncguard.sample;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Maps exceptions to problem details with the next step. The three kinds of lock errors differ: another request holds
 * the lock, work may have been done twice, or the outcome is unknown.
 */
@RestControllerAdvice
final class Problems {

    @ExceptionHandler
    ProblemDetail notAcquired(LockNotAcquiredException ex) {
        return problem(
                HttpStatus.CONFLICT,
                "Locked by another request",
                "Another request is working on '" + ex.key()
                        + "'; nothing was done for this one. Try again in a moment.");
    }

    @ExceptionHandler
    ProblemDetail alreadyProcessed(OrderAlreadyProcessedException ex) {
        return problem(HttpStatus.CONFLICT, "Already processed", ex.getMessage());
    }

    @ExceptionHandler
    ProblemDetail outOfStock(OutOfStockException ex) {
        return problem(HttpStatus.CONFLICT, "Out of stock", ex.getMessage());
    }

    @ExceptionHandler
    ProblemDetail lost(LockLostException ex) {
        return problem(
                HttpStatus.INTERNAL_SERVER_ERROR,
                "Lock lost",
                "The lock '" + ex.key()
                        + "' was lost while the work was running, and another instance may have taken over."
                        + " Check what was done before you try again.");
    }

    /** What the work throws when it is interrupted, with the loss of its lock, if that was the reason, beneath it. */
    @ExceptionHandler
    ProblemDetail interrupted(InterruptedException ex) {
        for (Throwable beneath : ex.getSuppressed()) {
            if (beneath instanceof LockLostException reason) {
                return lost(reason);
            }
        }
        return problem(HttpStatus.SERVICE_UNAVAILABLE, "Interrupted", "The work was interrupted. Try again later.");
    }

    @ExceptionHandler
    ProblemDetail backendFailed(LockBackendException ex) {
        return problem(
                HttpStatus.SERVICE_UNAVAILABLE,
                "Locks are unavailable",
                "The server of the locks is unavailable (" + ex.code() + "). Try again later.");
    }

    @ExceptionHandler
    ProblemDetail otherLockError(LockException ex) {
        HttpStatus status =
                ex.code() == LockErrorCode.INVALID_ARGUMENT ? HttpStatus.BAD_REQUEST : HttpStatus.SERVICE_UNAVAILABLE;
        return problem(status, "No lock", ex.getMessage());
    }

    private static ProblemDetail problem(HttpStatus status, String title, @Nullable String detail) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        problem.setTitle(title);
        return problem;
    }
}
