package io.syncguard.web;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.StaleFenceException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers lock errors of controllers with problem details (RFC 9457), in Spring MVC and in WebFlux: 409 for contention
 * and for a stale fence, 503 if the lock was lost or its server is unavailable. An application's own advice for these
 * exceptions comes first if its order is negative.
 *
 * <p>No answer names a key or an owner: keys may be personal data, and owners name hosts.
 */
@RestControllerAdvice
@Order(0)
public final class LockProblemAdvice {

    private static final Log log = LogFactory.getLog(LockProblemAdvice.class);

    /** In seconds, the shortest that the header can say: the caller has waited, and most bodies are shorter. */
    private static final int RETRY_CONTENTION = 1;

    /** In seconds: the longest pause before the library itself connects to a server again. */
    private static final int RETRY_OUTAGE = 5;

    @ExceptionHandler
    ResponseEntity<ProblemDetail> notAcquired(LockNotAcquiredException contention) {
        log.debug("A request was answered with 409", contention);
        ProblemDetail problem = problem(
                HttpStatus.CONFLICT,
                "Locked",
                "Another request holds the lock. Nothing was done for this one; try again.",
                contention);
        return repeatable(problem, RETRY_CONTENTION);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> lost(LockLostException loss) {
        log.warn("A request was answered with 503: " + loss.getMessage());
        ProblemDetail problem = problem(
                HttpStatus.SERVICE_UNAVAILABLE,
                "Lock lost",
                "The lock was lost while the work was running, which may be done, in part or as a whole. Repeat the"
                        + " request only if that does no harm.",
                loss);
        return repeatable(problem, RETRY_OUTAGE);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> failed(LockBackendException failure) {
        return isTemporary(failure.code()) ? unavailable(failure) : broken(failure);
    }

    @ExceptionHandler
    ProblemDetail stale(StaleFenceException refusal) {
        ProblemDetail problem =
                problem(HttpStatus.CONFLICT, "Stale fence", String.valueOf(refusal.getMessage()), refusal);
        problem.setProperty("resource", refusal.resource());
        problem.setProperty("fence", refusal.fence().value());
        problem.setProperty("largestFence", refusal.largest().value());
        return problem;
    }

    @ExceptionHandler
    ProblemDetail unreadable(FenceHeaderException refusal) {
        return problem(HttpStatus.BAD_REQUEST, "Invalid fence", String.valueOf(refusal.getMessage()), refusal);
    }

    private static boolean isTemporary(LockErrorCode code) {
        return switch (code) {
            case SERVICE_UNAVAILABLE, NETWORK_TIMEOUT, RATE_LIMITED, ABORTED -> true;
            case AUTH_FAILED, INVALID_ARGUMENT, SCHEMA_MISSING, ACQUISITION_TIMEOUT, LOST, INTERNAL -> false;
        };
    }

    private static ResponseEntity<ProblemDetail> unavailable(LockBackendException failure) {
        log.warn("A request was answered with 503: " + failure.getMessage());
        ProblemDetail problem = problem(
                HttpStatus.SERVICE_UNAVAILABLE,
                "Locks are unavailable",
                "The server of the locks is unavailable. Repeat the request later, if a second execution does no harm.",
                failure);
        return repeatable(problem, RETRY_OUTAGE);
    }

    /** An operator has to act, so the stack trace is logged, and the client is not asked to repeat the request. */
    private static ResponseEntity<ProblemDetail> broken(LockBackendException failure) {
        log.error("A request was answered with 500", failure);
        return ResponseEntity.of(problem(
                        HttpStatus.INTERNAL_SERVER_ERROR,
                        "Locks do not work",
                        "The application cannot use its locks. Repeating the request does not help.",
                        failure))
                .build();
    }

    private static ResponseEntity<ProblemDetail> repeatable(ProblemDetail problem, int seconds) {
        return ResponseEntity.of(problem)
                .header(HttpHeaders.RETRY_AFTER, String.valueOf(seconds))
                .build();
    }

    private static ProblemDetail problem(HttpStatus status, String title, String detail, LockException error) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        problem.setTitle(title);
        problem.setProperty("code", error.code());
        return problem;
    }
}
