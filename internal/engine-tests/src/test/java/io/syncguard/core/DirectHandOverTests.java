package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.Fence;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A waiting caller learns that a release has granted it the key, and until when it may rely on that. */
class DirectHandOverTests {

    private static final String KEY = "order:42";
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final LockRequest REQUEST = LockRequest.of(KEY).ttl(TTL).waitTime(LONG);

    /** The ttl of a queue entry. */
    private static final Duration WAITER_TTL = new InMemoryLockBackend().info().waiterTtl();

    private final EngineFixture fixture = new EngineFixture();
    private final LockEngine locks = fixture.engine;

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void a_hand_over_that_comes_before_the_answer_is_not_lost() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        fixture.backend.afterAcquire = () -> fixture.releaseElsewhere(other);

        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST));

        eventually().until(waiter::isDone);
        assertThat(waiter.get().fence().value()).isEqualTo(2);
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    /**
     * Everybody who listens on the channel knows the secret from then on, and may send a message before the caller's
     * thread runs.
     */
    @Test
    void a_second_message_about_the_same_grant_does_not_change_it() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        List<AcquireRequest> requests = new CopyOnWriteArrayList<>();
        fixture.backend.onAcquire = requests::add;
        fixture.backend.afterAcquire = () -> {
            fixture.releaseElsewhere(other);
            fixture.backend.engine.handOver(
                    requests.get(0).waiterNumber(),
                    new AcquireResult.Granted(new Fence(7), Instant.EPOCH, Instant.EPOCH.plus(LONG)));
        };

        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST));

        eventually().until(waiter::isDone);
        assertThat(waiter.get().fence().value()).isEqualTo(2);
    }

    @Test
    void the_deadline_counts_from_the_request_that_got_the_queue_entry() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofMillis(300));
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.time.advance(Duration.ofMillis(700));

        fixture.releaseElsewhere(other);

        eventually().until(waiter::isDone);
        assertThat(waiter.get().remaining()).isEqualTo(WAITER_TTL.minusSeconds(1));
    }

    @Test
    void the_deadline_counts_from_the_last_request_that_renewed_the_queue_entry() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(100));
        assertThat(fixture.backend.renewalStatements).hasPositiveValue();

        fixture.releaseElsewhere(other);

        eventually().until(waiter::isDone);
        assertThat(waiter.get().remaining())
                .isBetween(WAITER_TTL.multipliedBy(6).dividedBy(10), WAITER_TTL);
    }

    @Test
    void the_first_heartbeat_gives_the_whole_ttl() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.releaseElsewhere(other);
        eventually().until(waiter::isDone);

        fixture.advanceSlowly(WAITER_TTL.dividedBy(2), Duration.ofMillis(100));

        eventually().until(() -> waiter.get().remaining().compareTo(TTL.minus(WAITER_TTL.dividedBy(2))) > 0);
        assertThat(fixture.backend.extendStatements).hasValue(1);
    }

    /**
     * Until the first heartbeat the lease is short: a server that stops for a while must not end a lock with a long
     * ttl.
     */
    @Test
    void the_first_heartbeat_comes_within_250_ms_of_the_grant_and_costs_a_shorter_body_nothing() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.releaseElsewhere(other);
        eventually().until(waiter::isDone);

        fixture.advanceSlowly(Duration.ofMillis(249), Duration.ofMillis(83));
        assertThat(fixture.backend.extendStatements).hasValue(0);
        fixture.time.advance(Duration.ofMillis(1));

        eventually().until(() -> waiter.get().remaining().equals(TTL));
        assertThat(fixture.backend.extendStatements).hasValue(1);
    }

    @Test
    void a_grant_whose_message_is_lost_is_found_by_the_next_look() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.deliverWakeUps(false);
        fixture.releaseElsewhere(other);

        fixture.advanceSlowly(WAITER_TTL.dividedBy(2), Duration.ofMillis(100));

        eventually().until(waiter::isDone);
        assertThat(waiter.get().fence().value()).isEqualTo(2);
        assertThat(waiter.get().remaining()).isGreaterThan(TTL.minusSeconds(3));
    }

    @Test
    void a_waiter_who_receives_a_grant_too_late_to_rely_on_it_asks_for_it() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        List<AcquireRequest> requests = new CopyOnWriteArrayList<>();
        fixture.backend.onAcquire = requests::add;
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.time.advance(Duration.ofSeconds(1));
        fixture.deliverWakeUps(false);
        fixture.releaseElsewhere(other);
        CountDownLatch paused = new CountDownLatch(1);
        fixture.backend.beforeRenewal = () -> awaitEnd(paused);
        fixture.time.advance(WAITER_TTL.minusMillis(500));

        fixture.backend.engine.handOver(
                requests.get(0).waiterNumber(),
                new AcquireResult.Granted(new Fence(2), Instant.EPOCH, Instant.EPOCH.plus(WAITER_TTL)));

        eventually().until(waiter::isDone);
        paused.countDown();
        assertThat(waiter.get().fence().value()).isEqualTo(2);
        assertThat(waiter.get().remaining()).isEqualTo(TTL);
        assertThat(requests).hasSize(2);
    }

    @Test
    void the_message_of_a_grant_from_before_the_last_request_does_not_count() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        List<AcquireRequest> requests = new CopyOnWriteArrayList<>();
        fixture.backend.onAcquire = requests::add;
        FutureTask<LockHandle> waiter = waiting(REQUEST);
        fixture.backend.engine.wake(requests.get(0).waiterNumber());
        eventually().until(() -> requests.size() == 2);
        fixture.settle();
        Instant now = Instant.EPOCH;

        fixture.backend.engine.handOver(
                requests.get(0).waiterNumber(), new AcquireResult.Granted(new Fence(7), now, now.plus(WAITER_TTL)));

        fixture.settle();
        assertThat(waiter).isNotDone();
        fixture.releaseElsewhere(other);
        eventually().until(waiter::isDone);
        assertThat(waiter.get().fence().value()).isEqualTo(2);
    }

    @Test
    void an_interrupted_waiter_gives_back_what_it_was_handed() {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        Thread[] thread = new Thread[1];
        FutureTask<LockHandle> waiter = inAnotherThread(() -> {
            thread[0] = Thread.currentThread();
            return locks.acquire(REQUEST);
        });
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);
        fixture.deliverWakeUps(false);
        fixture.releaseElsewhere(other);

        thread[0].interrupt();

        eventually().until(waiter::isDone);
        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockException.class);
        eventually().until(() -> !locks.isLocked(KEY));
    }

    @Test
    void a_key_is_held_at_least_as_long_as_asked_from_the_hand_over_on() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting(REQUEST.holdAtLeast(Duration.ofSeconds(2)));
        fixture.time.advance(Duration.ofSeconds(1));
        fixture.releaseElsewhere(other);
        eventually().until(waiter::isDone);

        waiter.get().release();

        fixture.time.advance(Duration.ofMillis(1_999));
        assertThat(locks.isLocked(KEY)).isTrue();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("requestsWithoutHandOver")
    void who_could_not_rely_on_a_short_lease_is_woken_and_requests(LockRequest request) throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting(request);

        fixture.releaseElsewhere(other);

        eventually().until(waiter::isDone);
        assertThat(waiter.get().remaining()).isEqualTo(request.ttl());
        assertThat(fixture.backend.acquires).hasValue(2);
    }

    static Stream<LockRequest> requestsWithoutHandOver() {
        return Stream.of(REQUEST.noHeartbeat(), REQUEST.ttl(WAITER_TTL.minusMillis(1)), REQUEST.shared());
    }

    private static void awaitEnd(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private FutureTask<LockHandle> waiting(LockRequest request) {
        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(request));
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);
        fixture.settle();
        return waiter;
    }
}
