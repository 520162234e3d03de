package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The waiters of one process: when they send requests, how they use the answers, and how they leave the queue. */
@Timeout(60)
class WaitersTests {

    private static final String KEY = "order:42";
    private static final Duration LONG = Duration.ofHours(1);
    private static final LockRequest REQUEST = LockRequest.of(KEY).waitTime(LONG);

    private final EngineFixture fixture = new EngineFixture();
    private final LockEngine locks = fixture.engine;

    @AfterEach
    void close() {
        fixture.backend.afterRenewal = () -> {};
        fixture.close();
    }

    @Test
    void a_wake_up_that_comes_before_the_answer_is_not_lost() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        fixture.backend.afterAcquire = () -> {
            if (fixture.backend.acquires.get() == 1) {
                fixture.releaseElsewhere(other);
            }
        };

        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST.noHeartbeat()));

        eventually().until(waiter::isDone);
        assertThat(waiter.get().isHeld()).isTrue();
        assertThat(fixture.backend.acquires).hasValue(2);
    }

    @Test
    void who_is_woken_for_nothing_asks_once_and_keeps_its_queue_entry() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting();
        AcquireRequest behind = fixture.queueElsewhere(KEY);

        fixture.backend.engine.wake(1);
        eventually().until(() -> fixture.backend.acquires.get() == 2);
        fixture.settle();

        assertThat(fixture.backend.acquires).hasValue(2);
        assertThat(fixture.store.queue(KEY)).hasSize(2).endsWith(behind.lockId());
        fixture.releaseElsewhere(other);
        eventually().until(waiter::isDone);
    }

    @Test
    void a_wake_up_for_nobody_does_no_harm() {
        fixture.backend.engine.wake(4711);

        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
    }

    @Test
    void an_answer_that_is_older_than_the_sleep_does_not_count() throws Exception {
        fixture.holdElsewhere(KEY, LONG);
        CountDownLatch answered = new CountDownLatch(1);
        CountDownLatch arrives = new CountDownLatch(1);
        waiting();
        fixture.backend.afterRenewal = () -> {
            answered.countDown();
            await(arrives);
        };
        // The answer will be that the queue entry is lost.
        fixture.store.expireQueueEntry(fixture.store.queue(KEY).get(0));
        fixture.time.advance(Duration.ofSeconds(2));
        await(answered);

        fixture.backend.engine.wake(1);
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);
        fixture.settle();
        arrives.countDown();
        fixture.settle();

        assertThat(fixture.backend.acquires)
                .as("the first request, and the one after the wake-up")
                .hasValue(2);
    }

    @Test
    void who_has_lost_its_queue_entry_is_queued_again() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting();
        fixture.store.expireQueueEntry(fixture.store.queue(KEY).get(0));

        fixture.time.advance(Duration.ofSeconds(2));
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);
        fixture.releaseElsewhere(other);

        eventually().until(waiter::isDone);
        assertThat(waiter.get().isHeld()).isTrue();
    }

    @Test
    void a_hundred_queue_entries_are_renewed_by_one_statement() {
        fixture.holdElsewhere(KEY, LONG);
        List<Integer> renewed = new CopyOnWriteArrayList<>();
        fixture.backend.onRenewal = ids -> renewed.add(ids.size());
        List<FutureTask<LockHandle>> waiters =
                IntStream.range(0, 100).mapToObj(i -> startWaiter()).toList();
        eventually().until(() -> asleep() == 100);

        fixture.time.advance(Duration.ofMillis(1_200));
        // Here each waiter has a different time for its poll. The first poll includes the others.
        fixture.advanceSlowly(Duration.ofMillis(500), Duration.ofMillis(50));

        assertThat(renewed).containsExactly(100);
        assertThat(fixture.backend.acquires).hasValue(100);
        assertThat(waiters).noneMatch(FutureTask::isDone);
        locks.stop();
    }

    @Test
    void a_waiter_that_can_be_woken_asks_every_third_of_what_a_queue_entry_lives_and_keeps_it() {
        fixture.holdElsewhere(KEY, LONG);
        waiting();
        String entry = fixture.store.queue(KEY).get(0);

        fixture.advanceSlowly(Duration.ofSeconds(12), Duration.ofMillis(100));

        assertThat(fixture.backend.renewalStatements.get()).isBetween(6, 9);
        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.store.queue(KEY)).containsExactly(entry);
    }

    @Test
    void waiters_that_cannot_be_woken_ask_with_longer_and_longer_pauses_up_to_the_longest() {
        fixture.disconnect();
        fixture.holdElsewhere(KEY, LONG);
        waiting();

        fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofMillis(20));
        int first = fixture.backend.renewalStatements.get();
        fixture.advanceSlowly(Duration.ofSeconds(4), Duration.ofMillis(50));

        assertThat(first).as("20, 40, 80, 160, 320, 500 ms, or half of that").isBetween(4, 12);
        assertThat(fixture.backend.renewalStatements.get() - first).isBetween(6, 17);
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void queue_entries_are_renewed_also_where_waiters_are_to_ask_less_often_than_that() {
        InMemoryLockBackend disconnected = new InMemoryLockBackend(fixture.store);
        disconnected.deliverWakeUps(false);
        Duration hour = Duration.ofHours(1);
        EngineSettings settings =
                new EngineSettings("test", hour, hour, hour, hour, Duration.ZERO, Duration.ZERO, Map.of());
        fixture.holdElsewhere("k", hour);
        try (LockEngine patient = new LockEngine(
                disconnected, settings, TransactionBoundary.NONE, List.of(), LockObserver.NONE, fixture.time)) {
            inAnotherThread(() -> patient.acquire(LockRequest.of("k")));
            eventually().until(() -> fixture.store.queue("k").size() == 1);

            fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(500));

            assertThat(fixture.store.queue("k")).hasSize(1);
        }
    }

    @Test
    void all_waiters_look_once_when_wake_ups_may_have_been_lost() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting();
        FutureTask<LockHandle> stillKept = waitingFor("order:43");
        fixture.deliverWakeUps(false);
        fixture.releaseElsewhere(other);
        fixture.deliverWakeUps(true);
        fixture.settle();
        assertThat(waiter.isDone()).isFalse();

        fixture.backend.engine.wakeUpsMissed();

        eventually().until(waiter::isDone);
        assertThat(waiter.get().isHeld()).isTrue();
        assertThat(fixture.backend.renewalStatements).as("for both").hasValue(1);
        assertThat(stillKept.isDone()).isFalse();
    }

    @Test
    void an_error_that_no_retry_mends_ends_all_waits_with_that_error_and_the_key_of_each() {
        fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> first = waiting();
        FutureTask<LockHandle> second = waitingFor("order:43");
        fixture.backend.beforeRenewal = InterceptedBackend.failing(LockErrorCode.AUTH_FAILED);

        fixture.time.advance(Duration.ofSeconds(2));

        assertFailed(first, KEY);
        assertFailed(second, "order:43");
        assertThat(fixture.backend.renewalStatements)
                .as("one statement for both")
                .hasValue(1);
        assertThat(fixture.backend.acquires).as("no further acquire requests").hasValue(2);
        eventually().until(() -> queuedAnywhere().isEmpty());
    }

    @Test
    void an_interrupt_leaves_the_queue() {
        fixture.holdElsewhere(KEY, LONG);
        AtomicReference<Thread> thread = new AtomicReference<>();
        FutureTask<LockHandle> waiter = inAnotherThread(() -> {
            thread.set(Thread.currentThread());
            return locks.acquire(REQUEST);
        });
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);
        AcquireRequest behind = fixture.queueElsewhere(KEY);

        thread.get().interrupt();

        eventually().until(() -> fixture.store.queue(KEY).equals(List.of(behind.lockId())));
        eventually().until(waiter::isDone);
        assertAborted(waiter);
    }

    @Test
    void who_gives_up_at_the_deadline_leaves_the_queue_with_its_last_try() {
        fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST.waitTime(Duration.ofSeconds(1))));
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);

        fixture.advanceSlowly(Duration.ofSeconds(1), Duration.ofMillis(500));

        eventually().until(waiter::isDone);
        assertThat(fixture.store.queue(KEY)).isEmpty();
        assertThat(fixture.backend.acquires).hasValue(2);
        assertThat(fixture.backend.releases).as("release statements").hasValue(0);
    }

    @Test
    void who_was_queued_long_after_the_deadline_leaves_the_queue() {
        fixture.holdElsewhere(KEY, LONG);
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(2));

        assertThatThrownBy(() -> locks.acquire(REQUEST.waitTime(Duration.ofSeconds(1))))
                .isInstanceOf(LockException.class);

        eventually().until(() -> fixture.store.queue(KEY).isEmpty());
    }

    @Test
    void a_stop_wakes_all_who_wait_and_they_leave_the_queue() {
        fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> first = waiting();
        FutureTask<LockHandle> second = startWaiter();
        eventually().until(() -> fixture.store.queue(KEY).size() == 2);

        locks.stop();

        eventually().until(() -> first.isDone() && second.isDone());
        assertAborted(first);
        assertAborted(second);
        eventually().until(() -> fixture.store.queue(KEY).isEmpty());
    }

    @Test
    void nobody_asks_while_nobody_waits() throws Exception {
        AcquireRequest other = fixture.holdElsewhere(KEY, LONG);
        FutureTask<LockHandle> waiter = waiting();
        fixture.releaseElsewhere(other);
        eventually().until(waiter::isDone);

        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(1));

        assertThat(waiter.get().isHeld()).isTrue();
        assertThat(fixture.backend.renewalStatements).hasValue(0);
    }

    /** Starts a caller that waits for the key, and waits until it sleeps. */
    private FutureTask<LockHandle> waiting() {
        FutureTask<LockHandle> waiter = startWaiter();
        eventually().until(() -> asleep() == 1);
        return waiter;
    }

    /** Starts another caller that waits for another held key, and waits until both sleep. */
    private FutureTask<LockHandle> waitingFor(String key) {
        fixture.holdElsewhere(key, LONG);
        FutureTask<LockHandle> waiter = inAnotherThread(() -> locks.acquire(REQUEST.key(key)));
        eventually().until(() -> asleep() == 2);
        return waiter;
    }

    private FutureTask<LockHandle> startWaiter() {
        return inAnotherThread(() -> locks.acquire(REQUEST));
    }

    /** The number of callers that have started to sleep. */
    private long asleep() {
        return fixture.time.looks().keySet().stream()
                .filter(thread -> thread.getName().equals("another"))
                .count();
    }

    private List<String> queuedAnywhere() {
        List<String> queued = new ArrayList<>(fixture.store.queue(KEY));
        queued.addAll(fixture.store.queue("order:43"));
        return queued;
    }

    private static void assertFailed(FutureTask<LockHandle> waiter, String key) {
        eventually().until(waiter::isDone);
        assertThatThrownBy(waiter::get)
                .cause()
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining(key)
                .hasMessageContaining("The test fails this request")
                .satisfies(ex -> assertThat(((LockException) ex).code()).isEqualTo(LockErrorCode.AUTH_FAILED));
    }

    private static void assertAborted(FutureTask<LockHandle> waiter) {
        assertThatThrownBy(waiter::get)
                .cause()
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
