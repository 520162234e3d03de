package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graphql.ExecutionResult;
import graphql.GraphQLError;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.graphql.ExecutionGraphQlResponse;
import org.springframework.graphql.ExecutionGraphQlService;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.SubscriptionMapping;
import org.springframework.graphql.execution.SubscriptionPublisherException;
import org.springframework.graphql.support.DefaultExecutionGraphQlRequest;
import org.springframework.stereotype.Controller;
import reactor.core.publisher.Flux;

/** Clients of GraphQL see why a lock was refused, and what they may do. */
@FrameworkTest
@Timeout(60)
class GraphQlRefusalTests {

    @Autowired
    private ExecutionGraphQlService service;

    @Autowired
    private LockManager manager;

    @Test
    void a_refusal_says_that_the_client_may_repeat_the_request() {
        try (LockHandle held = manager.acquire(LockRequest.of("sku", "pen"))) {
            for (String field : List.of("reserve", "reserveLater")) {
                GraphQLError error = errorOf("mutation { " + field + "(sku: \"pen\") }");

                assertThat(error.getErrorType()).hasToString("CONFLICT");
                assertThat(error.getMessage()).contains("Nothing was done", "try again");
                assertThat(error.getPath()).containsExactly(field);
                assertThat(error.getExtensions())
                        .containsEntry("code", "ACQUISITION_TIMEOUT")
                        .containsEntry("retryAfter", 1);
            }
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void a_loss_does_not() {
        GraphQLError error = errorOf("mutation { broken }");

        assertThat(error.getErrorType()).hasToString("INTERNAL_ERROR");
        assertThat(error.getExtensions()).containsEntry("code", "LOST").doesNotContainKey("retryAfter");
        assertThat(error.getMessage()).doesNotContain("secret");
    }

    @Test
    void a_subscription_that_is_refused_says_so_as_well() {
        try (LockHandle held = manager.acquire(LockRequest.of("sku", "pen"))) {
            Publisher<ExecutionResult> results = Objects.requireNonNull(
                    execute("subscription { reserved(sku: \"pen\") }").getData());

            assertThatThrownBy(() -> Flux.from(results).blockLast())
                    .isInstanceOfSatisfying(
                            SubscriptionPublisherException.class,
                            failure -> assertThat(failure.getErrors())
                                    .singleElement()
                                    .satisfies(error -> assertThat(error.getExtensions())
                                            .containsEntry("code", "ACQUISITION_TIMEOUT")));
            assertThat(held.isHeld()).isTrue();
        }
    }

    private GraphQLError errorOf(String document) {
        List<GraphQLError> errors = execute(document).getExecutionResult().getErrors();
        assertThat(errors).hasSize(1);
        return errors.get(0);
    }

    private ExecutionGraphQlResponse execute(String document) {
        return Objects.requireNonNull(service.execute(
                        new DefaultExecutionGraphQlRequest(document, null, Map.of(), Map.of(), "1", Locale.ROOT))
                .block());
    }

    @Controller
    static class Reservations {

        @MutationMapping
        @DistributedLock(name = "sku", key = "#sku", waitTime = "0s")
        public Integer reserve(@Argument String sku) {
            return 1;
        }

        @MutationMapping
        @DistributedLock(name = "sku", key = "#sku", waitTime = "0s")
        public CompletableFuture<Integer> reserveLater(@Argument String sku) {
            return CompletableFuture.completedFuture(1);
        }

        @MutationMapping
        public Integer broken() {
            throw new LockLostException("secret", "Lock 'secret' was lost");
        }

        @SubscriptionMapping
        @DistributedLock(name = "sku", key = "#sku", waitTime = "0s")
        public Flux<Integer> reserved(@Argument String sku) {
            return Flux.just(1);
        }
    }
}
