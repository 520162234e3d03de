package io.syncguard.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockMetersTests {

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
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
        assertThat(registry.get("syncguard.lock.lost").counters().stream()
                        .mapToDouble(Counter::count)
                        .sum())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_is_counted_with_its_operation_and_ends_no_hold(LockOperation operation) {
        LockEvent event = event("orders", Duration.ofMillis(1));
        meters.acquired(event);
        meters.failed(event, operation, new LockException(LockErrorCode.INTERNAL, "failed"));

        Meter failed = registry.get("syncguard.lock." + operation.name().toLowerCase(Locale.ROOT))
                .tag("outcome", "failed")
                .meter();
        assertThat(failed.measure().iterator().next().getValue()).isEqualTo(1);
        assertThat(gauge("active").value()).isEqualTo(1);
    }

    @Test
    void a_failure_has_its_error_as_a_tag_and_everything_else_has_none() {
        LockEvent event = event("orders", Duration.ofMillis(1));
        meters.acquired(event);
        meters.failed(
                event, LockOperation.ACQUIRE, new LockException(LockErrorCode.NETWORK_TIMEOUT, "the server is silent"));
        meters.failed(event, LockOperation.EXTEND, new LockException(LockErrorCode.AUTH_FAILED, "the user may not"));

        assertThat(registry.get("syncguard.lock.acquire")
                        .tags("outcome", "failed", "error", "network_timeout")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("syncguard.lock.extend")
                        .tags("outcome", "failed", "error", "auth_failed")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.getMeters())
                .filteredOn(meter -> meter.getId().getTag("outcome") != null)
                .filteredOn(meter -> !"failed".equals(meter.getId().getTag("outcome")))
                .hasSize(4)
                .allSatisfy(meter -> assertThat(meter.getId().getTags()).contains(Tag.of("error", "none")));
    }

    @Test
    void a_lock_that_is_held_shows_how_long_until_it_ends() {
        meters.acquired(event("orders", new Fence(1)));
        clock.add(Duration.ofMinutes(10));
        meters.acquired(event("orders", new Fence(2)));
        clock.add(Duration.ofMinutes(5));

        assertThat(holding().activeTasks()).isEqualTo(2);
        assertThat(holding().max(TimeUnit.MINUTES)).isEqualTo(15);
        assertThat(holding().duration(TimeUnit.MINUTES)).isEqualTo(20);

        meters.lost(event("orders", new Fence(1)));
        assertThat(holding().max(TimeUnit.MINUTES)).isEqualTo(5);
        meters.released(event("orders", new Fence(2)));
        assertThat(holding().activeTasks()).isZero();
    }

    @Test
    void a_lock_that_has_taken_other_fences_ends_as_any_other() {
        meters.acquired(event("orders", new Fence(1), 1));
        meters.acquired(event("orders", new Fence(5), 2));
        clock.add(Duration.ofMinutes(1));

        meters.lost(event("orders", new Fence(7), 1));

        assertThat(holding().activeTasks()).isEqualTo(1);
        assertThat(holding().max(TimeUnit.MINUTES)).isEqualTo(1);
        meters.released(event("orders", new Fence(9), 2));
        assertThat(holding().activeTasks()).isZero();
    }

    @Test
    void a_lock_does_not_end_with_that_of_another_key_or_backend() {
        meters.acquired(event("orders", new Fence(1)));
        meters.released(new LockEvent(
                "orders", "order:4712", LockMode.EXCLUSIVE, 0, "postgres", new Fence(1), null, Duration.ZERO, 2));
        meters.released(new LockEvent(
                "orders", "order:4711", LockMode.EXCLUSIVE, 0, "redis", new Fence(1), null, Duration.ZERO, 3));

        assertThat(registry.get("syncguard.lock.holding").longTaskTimers().stream()
                        .mapToInt(LongTaskTimer::activeTasks)
                        .sum())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void a_reported_lock_counts_until_it_ends_also_if_the_report_comes_late(LockMode mode) {
        LockEvent first = event(mode, new Fence(1));
        LockEvent second = event(mode, new Fence(2));
        meters.acquired(first);
        meters.acquired(second);

        meters.leaked(first);
        assertThat(gauge("leaked").value()).isEqualTo(1);
        meters.released(second);
        meters.leaked(second);
        assertThat(gauge("leaked").value()).isEqualTo(1);
        meters.lost(first);
        meters.leaked(first);
        assertThat(gauge("leaked").value()).isZero();
    }

    @Test
    void a_prepared_name_has_all_meters_of_its_first_lock_at_zero() {
        meters.prepare("partner", LockMode.SHARED, 5, "postgres");
        List<Meter> prepared = registry.getMeters();
        assertThat(prepared)
                .allSatisfy(meter -> assertThat(meter.measure())
                        .extracting(Measurement::getValue)
                        .containsOnly(meter.getId().getName().endsWith("limit") ? 5.0 : 0.0));

        meters.waitStarted(permit("partner", 5));
        meters.waitEnded(permit("partner", 5));
        meters.acquired(permit("partner", 5));
        meters.extended(permit("partner", 5));
        meters.lost(permit("partner", 5));
        assertThat(registry.getMeters()).containsExactlyInAnyOrderElementsOf(prepared);
        assertThat(registry.get("syncguard.lock.permit.limit").gauge().value()).isEqualTo(5);
    }

    @Test
    void the_longest_waiter_shows_until_its_wait_ends() throws Exception {
        meters.waitStarted(event("orders", Duration.ZERO));
        clock.add(Duration.ofMinutes(10));
        Thread second = new Thread(() -> meters.waitStarted(event("orders", Duration.ZERO)));
        second.start();
        second.join();
        clock.add(Duration.ofMinutes(5));
        LongTaskTimer queueing = registry.get("syncguard.lock.queueing").longTaskTimer();
        assertThat(queueing.max(TimeUnit.MINUTES)).isEqualTo(15);

        meters.waitEnded(event("orders", Duration.ZERO));
        assertThat(queueing.max(TimeUnit.MINUTES)).isEqualTo(5);
        assertThat(queueing.activeTasks()).isEqualTo(1);
    }

    /** It would be in the mean and the maximum of all acquisitions. */
    @Test
    void the_wait_of_a_standby_is_in_no_time_and_in_the_number_of_those_who_wait() {
        LockEvent standby = event("leader:scheduler", Duration.ofDays(3));
        meters.refused(standby);
        meters.waitStarted(standby);
        clock.add(Duration.ofDays(3));
        assertThat(gauge("waiting").value()).isEqualTo(1);
        assertThat(registry.find("syncguard.lock.queueing").longTaskTimers()).isEmpty();
        meters.waitEnded(standby);
        meters.acquired(standby);

        assertThat(gauge("waiting").value()).isZero();
        assertThat(gauge("active").value()).isEqualTo(1);
        assertThat(registry.find("syncguard.lock.acquire").timers()).isEmpty();
        meters.failed(standby, LockOperation.ACQUIRE, new LockException(LockErrorCode.NETWORK_TIMEOUT, "as tested"));
        assertThat(registry.get("syncguard.lock.acquire")
                        .tag("error", "network_timeout")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void the_times_of_the_last_grant_and_end_are_those_of_the_clock_in_seconds() {
        clock.add(Duration.ofHours(5));
        meters.acquired(event("orders", Duration.ZERO));
        double granted = clock.wallTime() / 1000.0;
        assertThat(seconds("grant")).isEqualTo(granted);
        assertThat(seconds("end")).isZero();
        clock.add(Duration.ofMinutes(5));

        meters.lost(event("orders", Duration.ZERO));
        assertThat(seconds("grant")).isEqualTo(granted);
        assertThat(seconds("end")).isEqualTo(granted + 300);
    }

    private double seconds(String event) {
        return registry.get("syncguard.lock.last." + event).timeGauge().value(TimeUnit.SECONDS);
    }

    @Test
    void the_name_that_exceeds_the_limit_is_warned_of_once() {
        try (CapturedLog log = new CapturedLog()) {
            IntStream.rangeClosed(1, 500).forEach(n -> meters.acquired(event("name " + n, Duration.ZERO)));
            assertThat(log.messages()).isEmpty();
            IntStream.rangeClosed(501, 600).forEach(n -> meters.acquired(event("name " + n, Duration.ZERO)));

            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith(
                            "More than 500 names of locks: meters and observations show 'name 501' and all further");
        }
    }

    @Test
    void the_largest_fence_is_shown() {
        meters.acquired(event("orders", new Fence(4)));
        meters.acquired(event("orders", new Fence(7)));
        meters.acquired(event("orders", new Fence(5)));
        assertThat(gauge("fence").value()).isEqualTo(7);

        meters.extended(event("orders", new Fence(8)));
        assertThat(gauge("fence").value()).isEqualTo(8);
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
        LockEvent shared = new LockEvent(
                "orders", "order:4711", LockMode.SHARED, 0, "postgres", new Fence(1), null, Duration.ZERO, 1);
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

    @Test
    void permits_in_use_and_callers_that_wait_for_one_are_counted_by_name_and_end_at_zero() {
        LockEvent event = permit("partner", 5);
        meters.waitStarted(event);
        meters.waitStarted(permit("partner", 8));
        meters.acquired(event);
        assertThat(permits("partner", "waiting").value()).isEqualTo(2);
        assertThat(permits("partner", "in_use").value()).isEqualTo(1);
        meters.waitEnded(event);
        meters.waitEnded(event);
        meters.acquired(event);

        meters.released(event);
        meters.lost(event);

        assertThat(permits("partner", "waiting").value()).isZero();
        assertThat(permits("partner", "in_use").value()).isZero();
    }

    @Test
    void readers_and_writers_of_a_name_use_none_of_its_permits() {
        meters.acquired(permit("partner", 5));
        meters.acquired(permit("partner", 0));
        meters.acquired(event("partner", Duration.ZERO));
        meters.waitStarted(permit("partner", 0));
        meters.acquired(permit("catalogue", 0));

        assertThat(permits("partner", "in_use").value()).isEqualTo(1);
        assertThat(permits("partner", "waiting").value()).isZero();
        assertThat(registry.find("syncguard.lock.permits").gauges())
                .extracting(gauge -> gauge.getId().getTag("name"))
                .containsOnly("partner");
    }

    @Test
    void further_names_share_the_gauges_of_their_permits() {
        IntStream.rangeClosed(1, 600).forEach(n -> meters.acquired(permit("name " + n, 5)));

        assertThat(registry.find("syncguard.lock.permits").gauges()).hasSize(2 * 501);
        assertThat(permits("other", "in_use").value()).isEqualTo(100);
        IntStream.rangeClosed(1, 600).forEach(n -> meters.released(permit("name " + n, 5)));
        assertThat(permits("other", "in_use").value()).isZero();
    }

    private Gauge permits(String name, String state) {
        return registry.get("syncguard.lock.permits")
                .tags("name", name, "state", state)
                .gauge();
    }

    private static LockEvent permit(String name, int permits) {
        return new LockEvent(
                name, name + ":42", LockMode.SHARED, permits, "postgres", new Fence(1), null, Duration.ZERO, 1);
    }

    private Gauge gauge(String meter) {
        return registry.get("syncguard.lock." + meter).gauge();
    }

    private LongTaskTimer holding() {
        return registry.get("syncguard.lock.holding").longTaskTimer();
    }

    private Set<String> names() {
        return registry.getMeters().stream()
                .map(meter -> String.valueOf(meter.getId().getTag("name")))
                .collect(Collectors.toSet());
    }

    private static LockEvent event(String name, Duration elapsed) {
        return event(name, "postgres", elapsed);
    }

    private static LockEvent event(String name, Fence fence) {
        return event(name, fence, fence.value());
    }

    private static LockEvent event(String name, Fence fence, long grant) {
        return new LockEvent(name, "order:4711", LockMode.EXCLUSIVE, 0, "postgres", fence, null, Duration.ZERO, grant);
    }

    private static LockEvent event(String name, String backend, Duration elapsed) {
        return new LockEvent(name, "order:4711", LockMode.EXCLUSIVE, 0, backend, new Fence(1), null, elapsed, 1);
    }

    private static LockEvent event(LockMode mode, Fence fence) {
        return new LockEvent("orders", "order:4711", mode, 0, "postgres", fence, null, Duration.ZERO, fence.value());
    }
}
