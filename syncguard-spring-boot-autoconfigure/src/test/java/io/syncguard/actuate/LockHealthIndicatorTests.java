package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.StoreProbe;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
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
    void it_is_down_while_the_store_grants_no_locks() {
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails())
                .containsKeys("lockManager", "error")
                .hasEntrySatisfying(
                        "lockManager",
                        process -> assertThat(((ProcessStatus) process).grantsLocks())
                                .isFalse());

        fixture.backend.beforeAcquire = () -> {};
        fixture.time.advance(Duration.ofSeconds(1));
        assertThat(health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void it_is_down_while_the_store_releases_none() {
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.AUTH_FAILED);
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
    }

    /** Another process probes at the same moment, or the release of an earlier probe failed. */
    @Test
    void a_probe_finds_another_key_if_one_is_taken() {
        fixture.holdElsewhere(StoreProbe.KEY, EngineFixture.TTL);
        assertThat(health().getStatus()).isEqualTo(Status.UP);

        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.time.advance(Duration.ofSeconds(1));
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
    }

    @Test
    void many_questions_of_a_second_are_one_probe_which_no_listener_and_no_waiter_sees() throws Exception {
        AcquireRequest holder = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        FutureTask<LockHandle> waiter = fixture.startWaiting(LockRequest.of("order:42"));
        int before = fixture.backend.acquires.get();

        for (int i = 0; i < 100; i++) {
            assertThat(health().getStatus()).isEqualTo(Status.UP);
        }
        assertThat(fixture.backend.acquires).hasValue(before + 1);
        fixture.time.advance(Duration.ofSeconds(1));
        assertThat(health().getStatus()).isEqualTo(Status.UP);

        assertThat(fixture.backend.acquires).hasValue(before + 2);
        assertThat(fixture.engine.isLocked(StoreProbe.KEY)).isFalse();
        assertThat(fixture.events).containsExactly("waitStarted");
        fixture.releaseElsewhere(holder);
        assertThat(EngineFixture.got(waiter).fence().value()).isEqualTo(2);
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
        assertThat(fixture.engine.diagnostics().process().wakeUps())
                .as("not needed yet")
                .isNull();

        FutureTask<LockHandle> waiter = fixture.startWaiting(LockRequest.of("order:42"));
        assertThat(health().getStatus()).isEqualTo(LockHealthIndicator.DEGRADED);
        assertThat(health().getDetails().toString()).contains("wake-ups do not arrive");
        assertThat(fixture.engine.diagnostics().process().wakeUps()).isFalse();

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

    @Test
    void of_two_stores_each_is_shown_by_itself() {
        fixture.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        Health health = both().health();

        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(grantsLocks(health, "a")).isFalse();
        assertThat(grantsLocks(health, "b")).isTrue();
    }

    /** A platform waits for a second. */
    @Test
    void stores_that_are_silent_take_half_a_second_together_and_then_what_is_known_counts() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        fixture.backend.beforeAcquire = () -> uninterrupted(answer);
        other.backend.beforeAcquire = () -> uninterrupted(answer);
        try {
            FutureTask<Health> first = new FutureTask<>(both()::health);
            Thread platform = new Thread(first);
            platform.start();
            Duration waited = Duration.ZERO;
            while (!first.isDone()) {
                await().until(() -> first.isDone()
                        || fixture.time.looks().containsKey(platform)
                        || other.time.looks().containsKey(platform));
                fixture.time.advance(Duration.ofMillis(100));
                other.time.advance(Duration.ofMillis(100));
                waited = waited.plusMillis(100);
            }
            assertThat(waited).isLessThan(Duration.ofSeconds(1));
            assertThat(first.get().getStatus()).isEqualTo(Status.DOWN);
            assertThat(first.get().getDetails().toString()).contains("The store has not answered yet");
        } finally {
            answer.countDown();
        }
        await().until(() -> both().health().getStatus().equals(Status.UP));
    }

    private LockHealthIndicator both() {
        return new LockHealthIndicator(new LockHealth(new TreeMap<>(Map.of("a", fixture.engine, "b", other.engine))));
    }

    private static boolean grantsLocks(Health health, String manager) {
        return ((ProcessStatus) health.getDetails().get(manager)).grantsLocks();
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private Health health() {
        return indicator.health();
    }
}
