package io.syncguard.sample;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Maps the exceptions of the order service to problem details. The library answers lock errors itself.
 */
@RestControllerAdvice
final class Problems {

    @ExceptionHandler
    ProblemDetail alreadyProcessed(OrderAlreadyProcessedException ex) {
        return conflict("Already processed", ex);
    }

    @ExceptionHandler
    ProblemDetail outOfStock(OutOfStockException ex) {
        return conflict("Out of stock", ex);
    }

    private static ProblemDetail conflict(String title, RuntimeException ex) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
        problem.setTitle(title);
        return problem;
    }
}
