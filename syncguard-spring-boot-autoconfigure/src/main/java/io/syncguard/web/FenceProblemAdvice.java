package io.syncguard.web;

import io.syncguard.StaleFenceException;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers refused fences with problem details (RFC 9457): 409 for a stale one, 400 for a missing or malformed header.
 * An application's own advice for these exceptions comes first if its order is negative.
 */
@RestControllerAdvice
@Order(0)
public final class FenceProblemAdvice {

    @ExceptionHandler
    ProblemDetail stale(StaleFenceException refusal) {
        ProblemDetail problem = problem(HttpStatus.CONFLICT, "Stale fence", refusal);
        problem.setProperty("resource", refusal.resource());
        problem.setProperty("fence", refusal.fence().value());
        problem.setProperty("largestFence", refusal.largest().value());
        return problem;
    }

    @ExceptionHandler
    ProblemDetail unreadable(FenceHeaderException refusal) {
        return problem(HttpStatus.BAD_REQUEST, "Invalid fence", refusal);
    }

    private static ProblemDetail problem(HttpStatus status, String title, RuntimeException refusal) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, refusal.getMessage());
        problem.setTitle(title);
        return problem;
    }
}
