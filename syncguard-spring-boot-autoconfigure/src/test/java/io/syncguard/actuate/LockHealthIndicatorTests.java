package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

class LockHealthIndicatorTests {

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    @RegisterExtension
    private final EngineFixture other = new EngineFixture();

    private final LockHealthIndicator indicator =
            new LockHealthIndicator(new LockHealth(Map.of("lockManager", fixture.engine)));

    @Test
    void it_is_up_while_the_store_answers() {
        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsOnlyKeys("lockManager");
    }

    @Test
    void it_is_down_while_the_store_does_not_answer() {
        fixture.backend.beforeLookup = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails()).containsKeys("lockManager", "error");
    }

    @Test
    void it_is_degraded_while_heartbeats_fail() {
        fixture.engine.acquire(LockRequest.of("order:42"));
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.advanceSlowly(Duration.ofSeconds(12), Duration.ofSeconds(1));

        assertThat(health().getStatus()).isEqualTo(LockHealthIndicator.DEGRADED);
        assertThat(health().getDetails().get("lockManager.problems").toString())
                .contains("heartbeats have failed since the last success");

        fixture.backend.beforeExtend = () -> {};
        fixture.advanceSlowly(Duration.ofSeconds(12), Duration.ofSeconds(1));
        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(fixture.engine.diagnostics().process().sinceHeartbeat()).isLessThan(Duration.ofSeconds(12));
    }

    @Test
    void it_is_degraded_while_wake_ups_do_not_arrive_and_somebody_waits() throws Exception {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        fixture.deliverWakeUps(false);
        assertThat(health().getStatus()).isEqualTo(Status.UP);

        FutureTask<LockHandle> waiter = fixture.startWaiting(LockRequest.of("order:42"));
        assertThat(health().getStatus()).isEqualTo(LockHealthIndicator.DEGRADED);
        assertThat(health().getDetails().toString()).contains("wake-ups do not arrive");

        fixture.deliverWakeUps(true);
        assertThat(health().getStatus()).isEqualTo(Status.UP);
        waiter.cancel(true);
    }

    @Test
    void heartbeats_that_failed_do_not_count_when_no_lock_is_held_any_more() {
        fixture.engine.acquire(LockRequest.of("order:42"));
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.advanceSlowly(EngineFixture.TTL.plusSeconds(1), Duration.ofSeconds(1));

        assertThat(fixture.engine.diagnostics().process().held()).isZero();
        assertThat(fixture.engine.diagnostics().process().failedHeartbeats()).isPositive();
        assertThat(health().getStatus()).isEqualTo(Status.UP);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "z"})
    void of_several_managers_the_worst_counts(String name) {
        fixture.engine.acquire(LockRequest.of("order:42"));
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.advanceSlowly(Duration.ofSeconds(12), Duration.ofSeconds(1));
        Map<String, LockEngine> managers = new TreeMap<>(Map.of(name, fixture.engine, "m", other.engine));

        assertThat(new LockHealthIndicator(new LockHealth(managers)).health().getStatus())
                .isEqualTo(LockHealthIndicator.DEGRADED);
    }

    private Health health() {
        return indicator.health();
    }
}
