package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HeartbeatTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void a_lock_outlives_its_ttl_with_the_same_fence() {
        LockHandle lock = locks.acquire(REQUEST);

        fixture.advanceSlowly(Duration.ofMinutes(5), Duration.ofSeconds(5));

        assertThat(lock.isHeld()).isTrue();
        assertThat(locks.admin().lookup("order:42").orElseThrow().fence()).isEqualTo(lock.fence());
        assertThat(fixture.backend.extendStatements.get()).isBetween(25, 32);
    }

    @Test
    void a_lock_without_heartbeat_is_lost_at_its_deadline_without_asking_anybody() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());

        fixture.time.advance(Duration.ofMillis(29_999));
        assertThat(lock.state()).isEqualTo(LockHandle.State.HELD);
        fixture.time.advance(Duration.ofMillis(1));

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(fixture.backend.extendStatements).hasValue(0);
    }

    @Test
    void a_thousand_locks_take_one_statement_per_tick() {
        List<LockHandle> handles = IntStream.range(0, 1000)
                .mapToObj(i -> {
                    fixture.time.advance(Duration.ofMillis(1));
                    return locks.acquire(LockRequest.of("k" + i));
                })
                .toList();

        fixture.time.advance(Duration.ofMillis(9_500));

        eventually()
                .until(() -> fixture.events.stream().filter("extended"::equals).count() == 1000);
        assertThat(fixture.backend.extendStatements).hasValue(1);
        assertThat(handles).allMatch(LockHandle::isHeld);
    }

    @Test
    void of_a_thousand_locks_the_three_that_are_gone_are_lost_and_the_others_go_on() {
        List<LockHandle> handles = IntStream.range(0, 1000)
                .mapToObj(i -> locks.acquire(LockRequest.of("k" + i)))
                .toList();
        List.of("k1", "k500", "k999").forEach(fixture.store::expire);

        fixture.time.advance(Duration.ofSeconds(10));

        eventually()
                .until(() -> fixture.events.stream().filter("extended"::equals).count() == 997);
        assertThat(handles)
                .filteredOn(handle -> handle.state() == LockHandle.State.LOST)
                .extracting(LockHandle::key)
                .containsExactly("k1", "k500", "k999");
        eventually().until(() -> fixture.events.stream().filter("lost"::equals).count() == 3);
    }

    @BugOf("ShedLock: one failed renewal ends the heartbeat for good")
    @Test
    void a_failed_tick_is_tried_again_sooner_and_does_not_end_the_heartbeat() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.contains("failed EXTEND SERVICE_UNAVAILABLE"));

        fixture.backend.beforeExtend = () -> {};
        fixture.time.advance(Duration.ofMillis(2_500));

        eventually().until(() -> fixture.events.contains("extended"));
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void a_server_that_stays_away_costs_the_lock_at_its_deadline() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        fixture.advanceSlowly(Duration.ofSeconds(29), Duration.ofSeconds(1));
        assertThat(lock.isHeld()).isTrue();
        fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofSeconds(1));

        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void an_outage_is_logged_once_and_its_end_too() {
        locks.acquire(REQUEST);
        locks.acquire(LockRequest.of("short").ttl(Duration.ofSeconds(6)));
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
            fixture.advanceSlowly(Duration.ofSeconds(12), Duration.ofMillis(500));
            fixture.backend.beforeExtend = () -> {};
            fixture.advanceSlowly(Duration.ofSeconds(12), Duration.ofMillis(500));

            assertThat(log.messages())
                    .satisfiesExactly(
                            warning -> assertThat(warning)
                                    .startsWith("The heartbeat could not extend 1 lock(s) and tries again"),
                            loss -> assertThat(loss).startsWith("Lost lock 'short'"),
                            recovery -> assertThat(recovery).startsWith("The heartbeat extends locks again, after "));
        }
    }

    @Test
    void a_server_that_stays_away_costs_its_own_locks_and_none_on_another_server() {
        LockHandle lost = locks.acquire(REQUEST);
        LockHandle kept = locks.acquire(LockRequest.of("order:43"));
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            takeAway(lost);
            fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(1));
            assertThat(lost.state()).isEqualTo(LockHandle.State.LOST);
            assertThat(kept.isHeld()).isTrue();

            fixture.advanceSlowly(Duration.ofSeconds(30), Duration.ofSeconds(1));

            assertThat(kept.isHeld()).isTrue();
            assertThat(log.messages())
                    .satisfiesExactly(
                            warning -> assertThat(warning)
                                    .startsWith("The heartbeat could not extend 1 lock(s) and tries again"),
                            loss -> assertThat(loss).startsWith("Lost lock 'order:42'"),
                            recovery -> assertThat(recovery).startsWith("The heartbeat extends locks again, after "));
        }
    }

    @Test
    void an_extension_whose_server_failed_is_repeated_sooner_than_those_that_were_answered() {
        LockHandle failed = locks.acquire(REQUEST);
        locks.acquire(LockRequest.of("order:43"));
        takeAway(failed);
        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.containsAll(List.of("extended", "failed EXTEND SERVICE_UNAVAILABLE")));

        fixture.backend.onExtensions = extensions -> {};
        fixture.time.advance(Duration.ofMillis(2_500));

        eventually().until(() -> failed.remaining().compareTo(Duration.ofSeconds(29)) > 0);
        assertThat(fixture.backend.extendStatements)
                .as("one for each server, and one more")
                .hasValue(3);
    }

    @Test
    void a_failed_statement_says_nothing_of_locks_that_are_lost_by_then() {
        locks.acquire(REQUEST);
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            fixture.backend.beforeExtend = () -> {
                fixture.time.advance(EngineFixture.TTL);
                throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
            };

            fixture.time.advance(Duration.ofSeconds(10));

            eventually().until(() -> fixture.events.contains("failed EXTEND NETWORK_TIMEOUT"));
            // Another thread may report the loss.
            eventually().until(() -> !log.messages().isEmpty());
            assertThat(log.messages()).singleElement().asString().startsWith("Lost lock 'order:42'");
        }
    }

    @BugOf("Spring Integration: a holder whose call hangs is not notified that its lock is lost")
    @Test
    void a_heartbeat_that_hangs_does_not_keep_the_loss_from_being_reported() {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch notified = new CountDownLatch(1);
        fixture.backend.beforeExtend = () -> awaitQuietly(hanging);
        LockHandle lock = locks.acquire(REQUEST);
        lock.onLost(notified::countDown);

        fixture.time.advance(EngineFixture.TTL);

        eventually().until(() -> notified.getCount() == 0);
        hanging.countDown();
    }

    @BugOf("etcd 11456: a late result is not checked again")
    @Test
    void a_confirmation_that_comes_after_the_deadline_does_not_bring_a_lock_back() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterExtend = () -> fixture.time.advance(Duration.ofSeconds(25));

        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(fixture.events).doesNotContain("extended");
    }

    @Test
    void a_late_confirmation_counts_from_before_its_request() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterExtend = () -> {
            fixture.backend.afterExtend = () -> {};
            fixture.time.advance(Duration.ofSeconds(5));
        };

        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("extended"));
        assertThat(lock.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(25));
    }

    @Test
    void a_row_that_is_pinned_is_tried_again_at_once_and_is_not_lost() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.rowsArePinned = true;

        fixture.time.advance(Duration.ofSeconds(10));
        fixture.advanceSlowly(Duration.ofMillis(50), Duration.ofMillis(10));
        assertThat(fixture.backend.extendStatements.get()).isGreaterThan(2);
        fixture.backend.rowsArePinned = false;
        fixture.time.advance(Duration.ofMillis(10));

        eventually().until(() -> fixture.events.contains("extended"));
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void an_extension_by_hand_sets_the_time_that_is_left() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(lock.extend(Duration.ofMinutes(1))).isTrue();
        assertThat(lock.remaining()).isEqualTo(Duration.ofMinutes(1));
        assertThat(lock.extend(Duration.ofSeconds(3))).isTrue();
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(3));

        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(500));
        assertThat(lock.isHeld()).as("the heartbeat goes on with the new ttl").isTrue();
    }

    @Test
    void an_extension_by_hand_of_a_lock_that_is_gone_loses_it() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.store.expire("order:42");

        assertThat(lock.extend(Duration.ofMinutes(1))).isFalse();

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void an_extension_by_hand_that_fails_leaves_the_lock_as_it_was() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatThrownBy(() -> lock.extend(Duration.ofMinutes(1))).isInstanceOf(LockBackendException.class);

        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
    }

    @Test
    void an_extension_that_shortens_counts_from_when_it_is_sent_even_if_its_answer_is_lost() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        fixture.backend.afterExtend = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatThrownBy(() -> lock.extend(Duration.ofMillis(100))).isInstanceOf(LockBackendException.class);

        assertThat(lock.remaining()).isEqualTo(Duration.ofMillis(100));
        fixture.time.advance(Duration.ofMillis(100));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void an_extension_by_lock_id_is_seen_by_the_handle_of_the_same_process() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(locks.extend(lock.lockId(), Duration.ofSeconds(3))).isPresent();
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(3));
        assertThat(locks.release(lock.lockId())).isTrue();
        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
    }

    /**
     * Otherwise the later answer of the earlier, longer extension would move the deadline of the holder beyond the end
     * at the server.
     */
    @Test
    void an_extension_by_hand_waits_for_the_heartbeat_that_is_under_way() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterExtend = () -> {
            fixture.backend.afterExtend = () -> {};
            arrived.countDown();
            awaitQuietly(goOn);
        };
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();

        FutureTask<Boolean> byHand = inAnotherThread(() -> lock.extend(Duration.ofSeconds(3)));
        fixture.settle();
        assertThat(fixture.backend.extendStatements).hasValue(1);
        goOn.countDown();

        assertThat(byHand.get()).isTrue();
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(3));
    }

    static void awaitQuietly(CountDownLatch latch) {
        try {
            if (!latch.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody let the test go on");
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** Moves the lock to a server of its own, which does not answer. */
    private void takeAway(LockHandle lock) {
        fixture.backend.servers = key -> key.equals(lock.key()) ? 1 : 0;
        fixture.backend.onExtensions = extensions -> {
            if (extensions.stream().anyMatch(each -> each.id().lockId().equals(lock.lockId()))) {
                throw InterceptedBackend.failure(LockErrorCode.SERVICE_UNAVAILABLE);
            }
        };
    }
}
