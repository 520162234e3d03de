package io.syncguard.web;

import graphql.ErrorClassification;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.Order;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.ErrorType;
import org.springframework.graphql.execution.SubscriptionExceptionResolver;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import reactor.core.publisher.Mono;

/**
 * Answers lock errors of GraphQL's fields and subscriptions as {@link LockProblemAdvice} answers those of controllers.
 * The classification is {@code CONFLICT}, {@code UNAVAILABLE}, {@code BAD_REQUEST} or {@code INTERNAL_ERROR}. The
 * extensions have the code, and {@code retryAfter} in seconds where nothing was done.
 *
 * <p>An application's own resolver of these exceptions comes first if its order is negative.
 */
@Order(0)
public final class GraphQlLockErrorResolver implements DataFetcherExceptionResolver, SubscriptionExceptionResolver {

    private static final ErrorClassification CONFLICT = ErrorClassification.errorClassification("CONFLICT");

    private static final ErrorClassification UNAVAILABLE = ErrorClassification.errorClassification("UNAVAILABLE");

    private final LockProblemAdvice problems = new LockProblemAdvice();

    @Override
    public Mono<List<GraphQLError>> resolveException(Throwable thrown, DataFetchingEnvironment environment) {
        return error(thrown, GraphqlErrorBuilder.newError(environment));
    }

    @Override
    public Mono<List<GraphQLError>> resolveException(Throwable thrown) {
        return error(thrown, GraphqlErrorBuilder.newError());
    }

    private Mono<List<GraphQLError>> error(Throwable thrown, GraphqlErrorBuilder<?> error) {
        return Mono.fromCallable(() -> {
            ResponseEntity<ProblemDetail> answer = problems.answer(thrown);
            return answer == null
                    ? null
                    : List.of(error.message("%s", message(answer))
                            .errorType(classification(answer))
                            .extensions(extensions(answer))
                            .build());
        });
    }

    private static @Nullable String message(ResponseEntity<ProblemDetail> answer) {
        return problem(answer).getDetail();
    }

    private static ErrorClassification classification(ResponseEntity<ProblemDetail> answer) {
        return switch (HttpStatus.valueOf(answer.getStatusCode().value())) {
            case CONFLICT -> CONFLICT;
            case SERVICE_UNAVAILABLE -> UNAVAILABLE;
            case BAD_REQUEST -> ErrorType.BAD_REQUEST;
            default -> ErrorType.INTERNAL_ERROR;
        };
    }

    private static Map<String, Object> extensions(ResponseEntity<ProblemDetail> answer) {
        Map<String, Object> extensions = new LinkedHashMap<>();
        Objects.requireNonNull(problem(answer).getProperties())
                .forEach(
                        (name, value) -> extensions.put(name, value instanceof Number ? value : String.valueOf(value)));
        String retryAfter = answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
        if (retryAfter != null) {
            extensions.put("retryAfter", Integer.valueOf(retryAfter));
        }
        return extensions;
    }

    private static ProblemDetail problem(ResponseEntity<ProblemDetail> answer) {
        return Objects.requireNonNull(answer.getBody());
    }
}
