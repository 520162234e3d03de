package io.syncguard.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockMetersTests {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LockMeters meters = new LockMeters(registry);

    @Test
    void times_are_those_of_the_events() {
        meters.acquired(event("orders", Duration.ofMillis(7)));
        meters.released(event("orders", Duration.ofSeconds(3)));

        assertThat(registry.get("syncguard.lock.acquire")
                        .tag("outcome", "acquired")
                        .timer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(7);
        assertThat(registry.get("syncguard.lock.held").timer().totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(3000);
    }

    @Test
    void a_refusal_holds_nothing() {
        meters.refused(event("orders", Duration.ofMillis(7)));

        assertThat(registry.get("syncguard.lock.acquire")
                        .tag("outcome", "refused")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("syncguard.lock.held").timer().count()).isZero();
        assertThat(gauge("active").value()).isZero();
    }

    @Test
    void gauges_go_up_and_down_and_end_at_zero() {
        LockEvent event = event("orders", Duration.ofMillis(1));
        meters.waitStarted(event);
        meters.waitStarted(event);
        assertThat(gauge("waiting").value()).isEqualTo(2);
        meters.waitEnded(event);
        meters.acquired(event);
        meters.waitEnded(event);
        meters.acquired(event);
        assertThat(gauge("waiting").value()).isZero();
        assertThat(gauge("active").value()).isEqualTo(2);

        meters.released(event);
        meters.lost(event);
        assertThat(gauge("active").value()).isZero();
        assertThat(registry.get("syncguard.lock.lost").counter().count()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_is_counted_with_its_operation_and_ends_no_hold(LockOperation operation) {
        LockEvent event = event("orders", Duration.ofMillis(1));
        meters.acquired(event);
        meters.failed(event, operation, new LockException(LockErrorCode.INTERNAL, "failed"));

        Meter failed = registry.get("syncguard.lock." + operation.name().toLowerCase())
                .tag("outcome", "failed")
                .meter();
        assertThat(failed.measure().iterator().next().getValue()).isEqualTo(1);
        assertThat(gauge("active").value()).isEqualTo(1);
    }

    @Test
    void the_first_five_hundred_names_have_meters_of_their_own_and_the_rest_shares_one() {
        IntStream.rangeClosed(1, 600).forEach(n -> meters.acquired(event("name " + n, Duration.ZERO)));

        assertThat(names()).hasSize(501).contains("name 1", "name 500", "other").doesNotContain("name 501");
        assertThat(registry.get("syncguard.lock.active")
                        .tag("name", "other")
                        .gauge()
                        .value())
                .isEqualTo(100);
        IntStream.rangeClosed(1, 600).forEach(n -> meters.released(event("name " + n, Duration.ZERO)));
        assertThat(registry.get("syncguard.lock.active")
                        .tag("name", "other")
                        .gauge()
                        .value())
                .isZero();
    }

    @Test
    void names_that_come_at_once_keep_to_the_limit() {
        IntStream.rangeClosed(1, 5000).parallel().forEach(n -> meters.acquired(event("name " + n, Duration.ZERO)));

        assertThat(names()).as("concurrent calls may add a few more").hasSizeBetween(501, 550);
    }

    @Test
    void one_name_on_two_backends_has_meters_of_its_own_on_each() {
        meters.acquired(event("orders", "postgres", Duration.ZERO));
        meters.acquired(event("orders", "redis", Duration.ZERO));

        assertThat(registry.get("syncguard.lock.active")
                        .tag("backend", "redis")
                        .gauge()
                        .value())
                .isEqualTo(1);
        assertThat(registry.get("syncguard.lock.active")
                        .tag("backend", "postgres")
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    @Test
    void one_name_in_both_modes_has_meters_of_its_own_for_each() {
        LockEvent shared =
                new LockEvent("orders", "order:4711", LockMode.SHARED, "postgres", new Fence(1), null, Duration.ZERO);
        meters.acquired(shared);
        meters.acquired(shared);
        meters.acquired(event("orders", Duration.ZERO));
        meters.waitStarted(shared);

        assertThat(registry.get("syncguard.lock.active")
                        .tag("mode", "shared")
                        .gauge()
                        .value())
                .isEqualTo(2);
        assertThat(registry.get("syncguard.lock.active")
                        .tag("mode", "exclusive")
                        .gauge()
                        .value())
                .isEqualTo(1);
        assertThat(registry.get("syncguard.lock.waiting")
                        .tag("mode", "shared")
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    private Gauge gauge(String meter) {
        return registry.get("syncguard.lock." + meter).gauge();
    }

    private Set<String> names() {
        return registry.getMeters().stream()
                .map(meter -> String.valueOf(meter.getId().getTag("name")))
                .collect(Collectors.toSet());
    }

    private static LockEvent event(String name, Duration elapsed) {
        return event(name, "postgres", elapsed);
    }

    private static LockEvent event(String name, String backend, Duration elapsed) {
        return new LockEvent(name, "order:4711", LockMode.EXCLUSIVE, backend, new Fence(1), null, elapsed);
    }
}
