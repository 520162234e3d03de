package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.Traces.registry;
import static io.syncguard.autoconfigure.Traces.span;
import static io.syncguard.autoconfigure.Traces.spans;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.syncguard.DistributedLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

/** The traces of callers whose locks are acquired on other threads, with the settings of Spring Boot and without them. */
class TracedCallersTests {

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @AfterEach
    void endPropagation() {
        Hooks.disableAutomaticContextPropagation();
    }

    @Test
    void a_publisher_joins_the_trace_of_its_caller_by_a_setting() {
        traced().withPropertyValues("spring.reactor.context-propagation=auto").run(application -> {
            Observation request = Observation.start("request", registry(application));
            application
                    .getBean(Orders.class)
                    .submit()
                    .contextWrite(context -> context.put(ObservationThreadLocalAccessor.KEY, request))
                    .block(Duration.ofSeconds(10));
            request.stop();

            assertOneTrace(application);
            assertThat(span(application, "work").getParentSpanId())
                    .isEqualTo(span(application, "request").getSpanId());
        });
    }

    @Test
    void the_lock_of_a_publisher_is_one_trace_without_the_setting() {
        traced().run(application -> {
            Observation request = Observation.start("request", registry(application));
            application
                    .getBean(Orders.class)
                    .submit()
                    .contextWrite(context -> context.put(ObservationThreadLocalAccessor.KEY, request))
                    .block(Duration.ofSeconds(10));
            request.stop();

            assertThat(lockSpans(application)).hasSize(3);
            assertThat(tracesOf(lockSpans(application))).hasSize(1);
            assertThat(tracesOf(lockSpans(application)))
                    .doesNotContain(span(application, "request").getTraceId());
        });
    }

    @Test
    void an_asynchronous_method_joins_the_trace_of_its_caller_by_a_setting() {
        traced().withPropertyValues("spring.task.execution.propagate-context=true")
                .run(application -> {
                    Observation request = Observation.start("request", registry(application));
                    request.scopedChecked(
                            () -> application.getBean(Orders.class).archive().get(10, TimeUnit.SECONDS));
                    request.stop();

                    assertOneTrace(application);
                });
    }

    @Test
    void the_lock_of_an_asynchronous_method_is_one_trace_without_the_setting() {
        traced().run(application -> {
            Observation request = Observation.start("request", registry(application));
            request.scopedChecked(
                    () -> application.getBean(Orders.class).archive().get(10, TimeUnit.SECONDS));
            request.stop();

            assertThat(tracesOf(lockSpans(application))).hasSize(1);
        });
    }

    private static void assertOneTrace(ApplicationContext application) {
        assertThat(lockSpans(application)).hasSize(3);
        assertThat(tracesOf(spans(application))).hasSize(1);
    }

    private static List<SpanData> lockSpans(ApplicationContext application) {
        return spans(application).stream()
                .filter(each -> each.getName().startsWith("lock "))
                .toList();
    }

    private static Set<String> tracesOf(List<SpanData> spans) {
        return spans.stream().map(SpanData::getTraceId).collect(Collectors.toSet());
    }

    private static ApplicationContextRunner traced() {
        return Traces.of(database.url()).withUserConfiguration(Asynchronous.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {

        @Bean
        Orders orders(ObservationRegistry registry) {
            return new Orders(registry);
        }
    }

    static class Orders {

        private final ObservationRegistry registry;

        Orders(ObservationRegistry registry) {
            this.registry = registry;
        }

        @DistributedLock("orders")
        public Mono<String> submit() {
            return Mono.delay(Duration.ofMillis(1)).map(zero -> {
                Observation.createNotStarted("work", registry).observe(() -> {});
                return "submitted";
            });
        }

        @Async
        @DistributedLock("archive")
        public CompletableFuture<String> archive() {
            return CompletableFuture.completedFuture("archived");
        }
    }
}
