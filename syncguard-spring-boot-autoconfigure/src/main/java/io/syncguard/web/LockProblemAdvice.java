package io.syncguard.web;

import io.syncguard.IllegalKeyException;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockUnavailableException;
import io.syncguard.StaleFenceException;
import java.util.function.LongSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers lock errors of controllers with problem details (RFC 9457), in Spring MVC and in WebFlux: 409 for contention
 * and for a stale fence, 400 for a key or a fence that no lock has, 503 if the server of the locks failed before any
 * body ran, and 500 otherwise. An application's own advice for these exceptions comes first if its order is negative.
 * An exception with a status of its own, such as a {@code ResponseStatusException}, keeps it.
 *
 * <p>Only 409 and 503 have {@code Retry-After}: HTTP clients repeat such a request by themselves, and must not do so if
 * work may already be done.
 *
 * <p>No answer of this advice names a key, a resource or an owner: keys may be personal data, and owners name hosts.
 * The messages of the exceptions do, and other code that answers an exception may show its message.
 */
@RestControllerAdvice
@Order(0)
public final class LockProblemAdvice {

    private static final Log log = LogFactory.getLog(LockProblemAdvice.class);

    /** In seconds; the shortest value of the header, because the caller has waited and most bodies are shorter. */
    private static final int RETRY_CONTENTION = 1;

    /** In seconds: the longest pause before the library itself connects to a server again. */
    private static final int RETRY_OUTAGE = 5;

    private static final String PARTLY_DONE =
            "The work may be done in part. Repeat the request only if that does no harm.";

    private final IllegalKeyLog illegal;

    public LockProblemAdvice() {
        this(System::nanoTime);
    }

    LockProblemAdvice(LongSupplier nanoTime) {
        this.illegal = new IllegalKeyLog(nanoTime);
    }

    /**
     * The answer to a lock error, for an interface that has no exception handlers; {@code null} to another exception.
     */
    @Nullable
    ResponseEntity<ProblemDetail> answer(Throwable thrown) throws Exception {
        if (thrown instanceof LockNotAcquiredException contention) {
            return notAcquired(contention, contention);
        }
        if (thrown instanceof LockUnavailableException failure) {
            return unavailable(failure, failure);
        }
        ProblemDetail problem = problem(thrown);
        return problem == null ? null : ResponseEntity.of(problem).build();
    }

    private @Nullable ProblemDetail problem(Throwable thrown) throws Exception {
        if (thrown instanceof LockLostException loss) {
            return lost(loss, loss);
        }
        if (thrown instanceof LockBackendException failure) {
            return failed(failure, failure);
        }
        if (thrown instanceof StaleFenceException refusal) {
            return stale(refusal, refusal);
        }
        return thrown instanceof IllegalKeyException refusal ? illegal(refusal, refusal) : null;
    }

    @ExceptionHandler(LockNotAcquiredException.class)
    ResponseEntity<ProblemDetail> notAcquired(Exception thrown, LockNotAcquiredException contention) throws Exception {
        requireNoStatus(thrown);
        log.debug("A request was answered with 409", contention);
        if (contention.isInsideBody()) {
            return ResponseEntity.of(problem(
                            HttpStatus.CONFLICT,
                            "Locked",
                            "Another request holds a lock that the work needed. " + PARTLY_DONE,
                            contention))
                    .build();
        }
        ProblemDetail problem = problem(
                HttpStatus.CONFLICT,
                "Locked",
                "Another request holds the lock. Nothing was done for this one; try again.",
                contention);
        return repeatable(problem, RETRY_CONTENTION);
    }

    @ExceptionHandler(LockLostException.class)
    ProblemDetail lost(Exception thrown, LockLostException loss) throws Exception {
        requireNoStatus(thrown);
        log.warn("A request was answered with 500: " + loss.getMessage());
        return problem(
                HttpStatus.INTERNAL_SERVER_ERROR,
                "Lock lost",
                "The lock was lost while the work was running, which may be done, in part or as a whole. Repeat the"
                        + " request only if that does no harm.",
                loss);
    }

    @ExceptionHandler(LockUnavailableException.class)
    ResponseEntity<ProblemDetail> unavailable(Exception thrown, LockUnavailableException failure) throws Exception {
        requireNoStatus(thrown);
        log.warn("A request was answered with 503: " + failure.getMessage());
        ProblemDetail problem = problem(
                HttpStatus.SERVICE_UNAVAILABLE,
                "Locks are unavailable",
                "The server of the locks is unavailable, and nothing was done under a lock. Repeat the request later.",
                failure);
        return repeatable(problem, RETRY_OUTAGE);
    }

    @ExceptionHandler(LockBackendException.class)
    ProblemDetail failed(Exception thrown, LockBackendException failure) throws Exception {
        requireNoStatus(thrown);
        return isTemporary(failure.code()) ? unknown(failure) : misconfigured(failure);
    }

    @ExceptionHandler(StaleFenceException.class)
    ProblemDetail stale(Exception thrown, StaleFenceException refusal) throws Exception {
        requireNoStatus(thrown);
        log.debug("A request was answered with 409", refusal);
        ProblemDetail problem = problem(
                HttpStatus.CONFLICT,
                "Stale fence",
                "Fence " + refusal.fence() + " is stale, because a later holder was here with " + refusal.largest()
                        + ". The work was rolled back. Acquire the lock again.",
                refusal);
        problem.setProperty("fence", refusal.fence().value());
        problem.setProperty("largestFence", refusal.largest().value());
        return problem;
    }

    @ExceptionHandler(FenceHeaderException.class)
    ProblemDetail unreadable(Exception thrown, FenceHeaderException refusal) throws Exception {
        requireNoStatus(thrown);
        return problem(HttpStatus.BAD_REQUEST, "Invalid fence", String.valueOf(refusal.getMessage()), refusal);
    }

    @ExceptionHandler(IllegalKeyException.class)
    ProblemDetail illegal(Exception thrown, IllegalKeyException refusal) throws Exception {
        requireNoStatus(thrown);
        illegal.warn(refusal);
        return problem(
                HttpStatus.BAD_REQUEST,
                "Invalid key",
                "The request leads to a key that no lock can have. "
                        + (refusal.isInsideBody() ? PARTLY_DONE : "Nothing was done; correct the request."),
                refusal);
    }

    /**
     * Rethrows an exception with a status of its own, which comes first. Spring also passes exceptions that a lock
     * error has caused.
     */
    private static void requireNoStatus(Exception thrown) throws Exception {
        if (thrown instanceof ErrorResponse
                || AnnotatedElementUtils.hasAnnotation(thrown.getClass(), ResponseStatus.class)) {
            throw thrown;
        }
    }

    private static boolean isTemporary(LockErrorCode code) {
        return code.isTransient() || code == LockErrorCode.ABORTED;
    }

    /** Answers a failure of the server during or after a body, or within the body of another lock. */
    private static ProblemDetail unknown(LockBackendException failure) {
        log.warn("A request was answered with 500: " + failure.getMessage());
        return problem(
                HttpStatus.INTERNAL_SERVER_ERROR,
                "Lock service failed",
                "The server of the locks failed while the work was running, which may be done, in part or as a whole."
                        + " Repeat the request only if that does no harm.",
                failure);
    }

    /**
     * Answers a failure that an operator has to end, so the stack trace is logged and the client is not asked to repeat
     * the request.
     */
    private static ProblemDetail misconfigured(LockBackendException failure) {
        log.error("A request was answered with 500", failure);
        return problem(
                HttpStatus.INTERNAL_SERVER_ERROR,
                "Lock service misconfigured",
                "The application cannot use its locks. Repeating the request does not help.",
                failure);
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
