package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.Traces.registry;
import static io.syncguard.autoconfigure.Traces.span;
import static io.syncguard.autoconfigure.Traces.spans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.LocalLock;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.micrometer.LockObservationContext;
import io.syncguard.micrometer.LockObservationConvention;
import io.syncguard.micrometer.LockObservations;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Traces and meters together, as Spring Boot wires them. */
class ObservationsTests {

    private static final LockRequest ORDER =
            LockRequest.of("order:4711").meterName("orders").owner("instance 1");

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @Test
    void the_trace_of_a_request_shows_its_lock_and_the_work_within() {
        traced().withUserConfiguration(Orders.class).run(application -> {
            Observation request = Observation.start("request", registry(application));
            request.scoped(() -> application.getBean(Order.class).submit("4711"));
            request.stop();

            SpanData root = span(application, "request");
            SpanData acquire = span(application, "lock acquire orders");
            SpanData held = span(application, "lock held orders");
            SpanData work = span(application, "work");
            SpanData release = span(application, "lock release orders");
            assertThat(spans(application))
                    .hasSize(5)
                    .allMatch(each -> each.getTraceId().equals(root.getTraceId()));
            assertThat(acquire.getParentSpanId()).isEqualTo(root.getSpanId());
            assertThat(held.getParentSpanId()).isEqualTo(root.getSpanId());
            assertThat(work.getParentSpanId()).isEqualTo(held.getSpanId());
            assertThat(release.getParentSpanId()).isEqualTo(held.getSpanId());
            assertThat(held.getStartEpochNanos()).isGreaterThanOrEqualTo(acquire.getEndEpochNanos());
            assertThat(held.getEndEpochNanos()).isGreaterThanOrEqualTo(release.getEndEpochNanos());
            assertThat(spans(application).toString()).doesNotContain("orders:4711");
        });
    }

    @Test
    void the_trace_of_a_waiting_call_shows_the_wait_and_the_holders_owner() {
        traced().run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle inTheWay = locks.acquire(ORDER);
            CompletableFuture<LockHandle> waiting = CompletableFuture.supplyAsync(
                    () -> locks.acquire(ORDER.owner("instance 2").waitTime(Duration.ofSeconds(20))));
            MeterRegistry meters = application.getBean(MeterRegistry.class);
            await().atMost(Duration.ofSeconds(5))
                    .until(() -> meters.get("syncguard.lock.waiting").gauge().value() == 1);
            List<LocalLock> shown = ((LockEngine) locks).diagnostics().locks();
            inTheWay.release();
            assertThat(waiting.join().release()).isTrue();

            SpanData wait = span(application, "lock wait orders");
            assertThat(shown).extracting(LocalLock::traceId).containsExactly(null, wait.getTraceId());
            SpanData acquire = spans(application).stream()
                    .filter(each -> each.getSpanId().equals(wait.getParentSpanId()))
                    .findFirst()
                    .orElseThrow();
            assertThat(acquire.getName()).isEqualTo("lock acquire orders");
            assertThat(attribute(wait, "syncguard.lock.holder.owner")).isEqualTo("instance 1");
            assertThat(attribute(acquire, "syncguard.lock.holder.owner")).isEqualTo("instance 1");
            assertThat(attribute(wait, "syncguard.lock.outcome")).isEqualTo("acquired");
            assertThat(wait.getStatus().getStatusCode()).isNotEqualTo(StatusCode.ERROR);
        });
    }

    @Test
    void a_lock_that_is_lost_marks_its_span_and_the_log_names_its_trace() {
        try (CapturedLog log = new CapturedLog()) {
            traced().run(application -> {
                LockManager locks = application.getBean(LockManager.class);
                LockHandle lock = locks.acquire(
                        ORDER.key("lost").ttl(Duration.ofSeconds(1)).noHeartbeat());

                await().atMost(Duration.ofSeconds(5)).until(() -> !lock.isHeld());

                await().atMost(Duration.ofSeconds(5))
                        .until(() -> spans(application).size() == 2);
                SpanData held = span(application, "lock held orders");
                assertThat(attribute(held, "syncguard.lock.outcome")).isEqualTo("lost");
                assertThat(attribute(held, "error.type")).isEqualTo("lost");
                assertThat(held.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
                assertThat(held.getEvents().stream().map(event -> event.getName()))
                        .contains("lock lost");
                assertThat(log.messages())
                        .singleElement()
                        .asString()
                        .startsWith("Lost lock 'lost' after ")
                        .endsWith(" (trace " + held.getTraceId() + ")");
            });
        }
    }

    @Test
    void meters_are_the_same_with_and_without_observations_and_count_once() {
        Set<String> without = Set.copyOf(metersOf(metered()));

        assertThat(metersOf(
                        metered().withConfiguration(SortedAutoConfigurations.of(ObservationAutoConfiguration.class))))
                .containsExactlyInAnyOrderElementsOf(without);
        assertThat(metersOf(traced())).containsExactlyInAnyOrderElementsOf(without);
        assertThat(metersOf(traced().withPropertyValues("management.observations.enable.syncguard=false")))
                .containsExactlyInAnyOrderElementsOf(without);
        assertThat(without)
                .contains("syncguard.lock.acquire backend=postgres error=none mode=exclusive name=orders"
                        + " outcome=acquired: 2");
    }

    @Test
    void a_property_turns_observations_off_and_the_rest_of_the_trace_stays() {
        traced().withUserConfiguration(Orders.class)
                .withPropertyValues("management.observations.enable.syncguard=false")
                .run(application -> {
                    Observation request = Observation.start("request", registry(application));
                    request.scoped(() -> application.getBean(Order.class).submit("4711"));
                    request.stop();

                    assertThat(spans(application)).hasSize(2);
                    assertThat(span(application, "work").getParentSpanId())
                            .isEqualTo(span(application, "request").getSpanId());
                });
    }

    @Test
    void a_request_that_is_not_sampled_has_no_observations() {
        Traces.of(database.url(), 0)
                .withBean(LockCounter.class)
                .withUserConfiguration(Orders.class)
                .run(application -> {
                    Observation request = Observation.start("request", registry(application));
                    request.scoped(() -> application.getBean(Order.class).submit("4711"));
                    request.stop();

                    assertThat(application.getBean(LockCounter.class).count).hasValue(0);
                    assertThat(application
                                    .getBean(MeterRegistry.class)
                                    .get("syncguard.lock.held")
                                    .timer()
                                    .count())
                            .isEqualTo(1);
                });
    }

    /** Its acquisition decides. The body does not begin a trace of its own, which might be sampled. */
    @Test
    void a_lock_that_begins_a_trace_that_is_not_sampled_has_one_observation() {
        Traces.of(database.url(), 0)
                .withBean(LockCounter.class)
                .withUserConfiguration(Orders.class)
                .run(application -> {
                    ObservationRegistry registry = registry(application);
                    List<Observation> parents = new ArrayList<>();
                    application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                        parents.add(registry.getCurrentObservation());
                        return lock;
                    });

                    assertThat(application.getBean(LockCounter.class).count).hasValue(1);
                    assertThat(parents)
                            .singleElement()
                            .extracting(each -> each.getContext().getName())
                            .isEqualTo("syncguard.lock.acquire");
                    assertThat(registry.getCurrentObservation()).isNull();
                });
    }

    @Test
    void without_tracing_there_are_no_observations_unless_a_handler_of_the_application_wants_them() {
        ApplicationContextRunner untraced =
                metered().withConfiguration(SortedAutoConfigurations.of(ObservationAutoConfiguration.class));
        untraced.run(application -> {
            AtomicInteger seen = new AtomicInteger();
            registry(application).observationConfig().observationPredicate((name, context) -> {
                seen.incrementAndGet();
                return true;
            });
            application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);

            assertThat(seen).hasValue(0);
        });
        untraced.withBean(LockCounter.class).run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);

            assertThat(application.getBean(LockCounter.class).count).hasValue(3);
        });
    }

    @Test
    void a_convention_of_the_application_is_used() {
        traced().withBean(KeysInSpans.class).run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);

            assertThat(attribute(span(application, "held"), "key")).isEqualTo("order:4711");
        });
    }

    @Test
    void an_observer_of_the_application_replaces_ours() {
        traced().withBean("ours", LockObserver.class, () -> LockObserver.NONE).run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);

            assertThat(application).doesNotHaveBean(LockObservations.class);
            assertThat(spans(application)).isEmpty();
        });
    }

    @Test
    void without_a_registry_or_without_micrometer_there_are_none_and_locks_work() {
        for (ApplicationContextRunner runner : List.of(
                Applications.on(database.url()),
                Applications.on(database.url()).withClassLoader(new FilteredClassLoader(ObservationRegistry.class)))) {
            runner.run(application -> {
                assertThat(application).hasNotFailed().doesNotHaveBean(LockObserver.class);
                application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
            });
        }
    }

    /** All meters after one lock with an extension and a release, with their counts. */
    private static List<String> metersOf(ApplicationContextRunner runner) {
        List<String> meters = new ArrayList<>();
        runner.run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> lock.extend(Duration.ofSeconds(10)));
            assertThatThrownBy(() -> application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                        throw new IllegalStateException();
                    }))
                    .isInstanceOf(IllegalStateException.class);
            application.getBean(MeterRegistry.class).getMeters().stream()
                    .filter(meter -> meter.getId().getName().startsWith("syncguard"))
                    .filter(meter -> !meter.getId().getName().equals("syncguard.lock.fence"))
                    .filter(meter -> !meter.getId().getName().startsWith("syncguard.lock.last."))
                    // A pool opens its connections in the background.
                    .filter(meter -> !meter.getId().getName().equals("syncguard.store.connections"))
                    .map(ObservationsTests::describe)
                    .forEach(meters::add);
        });
        return meters;
    }

    private static String describe(Meter meter) {
        return meter.getId().getName()
                + meter.getId().getTags().stream()
                        .map(tag -> " " + tag.getKey() + "=" + tag.getValue())
                        .sorted()
                        .collect(Collectors.joining())
                + ": " + (long) meter.measure().iterator().next().getValue();
    }

    private static String attribute(SpanData span, String key) {
        return span.getAttributes().get(AttributeKey.stringKey(key));
    }

    private static ApplicationContextRunner metered() {
        return Traces.metered(database.url());
    }

    private static ApplicationContextRunner traced() {
        return Traces.of(database.url());
    }

    @Configuration(proxyBeanMethods = false)
    static class Orders {

        @Bean
        Order order(ObservationRegistry registry) {
            return new Order(registry);
        }
    }

    static class Order {

        private final ObservationRegistry registry;

        Order(ObservationRegistry registry) {
            this.registry = registry;
        }

        @DistributedLock(name = "orders", key = "#id")
        public void submit(String id) {
            Observation.createNotStarted("work", registry).observe(() -> {});
        }
    }

    /** Counts the observations of locks. */
    static class LockCounter implements ObservationHandler<LockObservationContext> {

        private final AtomicInteger count = new AtomicInteger();

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof LockObservationContext;
        }

        @Override
        public void onStart(LockObservationContext context) {
            count.incrementAndGet();
        }
    }

    static class KeysInSpans implements LockObservationConvention {

        @Override
        public String getContextualName(LockObservationContext context) {
            return context.observation().name().toLowerCase(Locale.ROOT);
        }

        @Override
        public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
            return KeyValues.of("key", context.request().key());
        }
    }
}
