package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.RequestNotSentException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The answer to a release carries the grant of a waiter of the same process. No wake-up arrives in these tests, and no
 * safety poll is due: the clock stands still unless a test moves it.
 */
@Timeout(30)
class HandOverInAnswerTests {

    private static final String KEY = "order:42";
    private static final LockRequest REQUEST =
            LockRequest.of(KEY).ttl(EngineFixture.TTL).waitTime(Duration.ofHours(1));
    private static final Duration WAITER_TTL = new InMemoryLockBackend().info().waiterTtl();

    /** The ends of the transactions to which leases are bound. */
    private final List<Runnable> transactionEnds = new ArrayList<>();

    private final List<GuardedLease> bound = new ArrayList<>();
    private boolean inTransaction;

    private final EngineFixture fixture = new EngineFixture((lease, release) -> {
        if (inTransaction) {
            transactionEnds.add(release);
            bound.add(lease);
        }
        return inTransaction ? 1 : 0;
    });

    private final LockEngine locks = fixture.engine;
    private final List<AcquireRequest> requests = new CopyOnWriteArrayList<>();

    @BeforeEach
    void record() {
        fixture.deliverWakeUps(false);
        fixture.backend.onAcquire = requests::add;
    }

    @AfterEach
    void close() {
        // Clears the flag, which a failed test may have left set, for the next test.
        boolean unused = Thread.interrupted();
        fixture.close();
    }

    /** How a caller releases. Each way acquires first. */
    private enum Way {
        HANDLE {
            @Override
            Runnable acquired(HandOverInAnswerTests test) {
                return test.locks.acquire(REQUEST)::release;
            }
        },
        LOCK_ID_OF_ANOTHER_PROCESS {
            @Override
            Runnable acquired(HandOverInAnswerTests test) {
                AcquireRequest other = test.fixture.holdElsewhere(KEY, EngineFixture.TTL);
                return () -> test.locks.release(other.lockId());
            }
        },
        TOGETHER {
            @Override
            Runnable acquired(HandOverInAnswerTests test) {
                LockHandles handles = test.locks.acquire(List.of(LockRequest.of("another"), REQUEST));
                return handles::close;
            }
        },
        END_OF_TRANSACTION {
            @Override
            Runnable acquired(HandOverInAnswerTests test) {
                test.inTransaction = true;
                LockHandle handle = test.locks.acquire(REQUEST);
                test.inTransaction = false;
                handle.release();
                return test.transactionEnds.get(0);
            }
        };

        abstract Runnable acquired(HandOverInAnswerTests test);
    }

    @ParameterizedTest
    @EnumSource
    void the_waiter_is_granted_the_key_without_another_request(Way way) throws Exception {
        Runnable release = way.acquired(this);
        FutureTask<LockHandle> waiter = waiting();
        int before = requests.size();

        release.run();

        assertThat(got(waiter).fence().value()).isEqualTo(2);
        assertThat(requests).hasSize(before);
        assertThat(fixture.backend.renewalStatements).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource
    void a_waiter_whose_hand_over_is_lost_with_the_answer_looks_at_once(Way way) throws Exception {
        for (Throwable failure : List.of(
                InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT),
                new IllegalStateException("an answer that nobody can read"),
                new OutOfMemoryError("as the test wants it"))) {
            Runnable release = way.acquired(this);
            FutureTask<LockHandle> waiter = waiting();
            onceAfterRelease(() -> sneak(failure));

            try {
                release.run();
            } catch (Throwable ex) {
                assertThat(ex).isSameAs(failure);
            }

            got(waiter).release();
            transactionEnds.clear();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_waiter_whose_hand_over_an_interrupt_takes_away_looks_at_once(Way way) throws Exception {
        Runnable release = way.acquired(this);
        FutureTask<LockHandle> waiter = waiting();
        onceAfterRelease(() -> {
            Thread.currentThread().interrupt();
            throw InterceptedBackend.failure(LockErrorCode.ABORTED);
        });

        release.run();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(got(waiter).fence().value()).isEqualTo(2);
    }

    @Test
    void the_last_of_joined_handles_hands_over() throws Exception {
        LockTemplate template = new LockTemplate(locks);
        List<FutureTask<LockHandle>> waiters = new ArrayList<>();

        template.executeWithoutResult(REQUEST, outer -> {
            waiters.add(waiting());
            template.executeWithoutResult(
                    REQUEST, inner -> assertThat(inner.isHeld()).isTrue());
            assertThat(waiters.get(0)).isNotDone();
        });

        assertThat(got(waiters.get(0)).fence().value()).isEqualTo(2);
        assertThat(requests).hasSize(2);
    }

    /** The tolerance of the server outlives the deadline of the holder. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void the_release_of_a_lease_that_was_lost_during_its_commit_hands_over(boolean answerIsLost) throws Exception {
        Duration ttl = Duration.ofSeconds(2);
        inTransaction = true;
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat().ttl(ttl));
        inTransaction = false;
        FutureTask<LockHandle> waiter = waiting();
        fixture.time.advance(ttl);
        fixture.settle();
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        bound.get(0).committed();
        if (answerIsLost) {
            onceAfterRelease(InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT));
            assertThatThrownBy(lock::close).isInstanceOf(LockLostException.class);
        } else {
            lock.close();
        }

        assertThat(got(waiter).fence().value()).isEqualTo(2);
        assertThat(requests).hasSize(answerIsLost ? 3 : 2);
    }

    @Test
    void an_interrupt_that_breaks_nothing_does_not_keep_the_hand_over_from_the_waiter() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        FutureTask<LockHandle> waiter = waiting();
        fixture.backend.afterRelease = Thread.currentThread()::interrupt;

        assertThat(lock.release()).isTrue();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(got(waiter).fence().value()).isEqualTo(2);
    }

    /** The server executes the release only when the waiters have looked: the background finds no lease any more. */
    @Test
    void a_waiter_whose_hand_over_comes_of_a_late_release_looks_again() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        String lockId = requests.get(0).lockId();
        FutureTask<LockHandle> waiter = waiting();
        fixture.backend.beforeRelease = () -> {
            fixture.backend.beforeRelease = () -> {
                fixture.backend.beforeRelease = () -> {};
                eventually().until(() -> fixture.backend.renewalStatements.get() > 0);
                fixture.releaseUnanswered(lockId);
            };
            throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
        };

        lock.release();

        assertThat(got(waiter).fence().value()).isEqualTo(2);
    }

    @Test
    void only_waiters_of_the_same_key_look() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.holdElsewhere("another", EngineFixture.TTL);
        FutureTask<LockHandle> waiter = waiting();
        fixture.startWaiting(LockRequest.of("another").waitTime(Duration.ofHours(1)));
        fixture.settle();
        List<List<KeyedLockId>> looks = new CopyOnWriteArrayList<>();
        fixture.backend.onRenewal = looks::add;
        onceAfterRelease(InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE));

        lock.release();

        got(waiter);
        assertThat(looks).isNotEmpty().allSatisfy(ids -> assertThat(ids).hasSize(1));
    }

    @Test
    void nobody_looks_after_a_release_that_was_not_sent() {
        LockHandle lock = locks.acquire(REQUEST);
        waiting();
        fixture.backend.beforeRelease = () -> {
            throw new RequestNotSentException(InterceptedBackend.failure(LockErrorCode.RATE_LIMITED));
        };

        lock.release();
        fixture.settle();

        assertThat(fixture.backend.renewalStatements).hasValue(0);
    }

    @ParameterizedTest
    @MethodSource("requestsWithoutHandOver")
    void who_is_woken_by_a_message_looks_at_once_too_when_the_answer_is_lost(LockRequest request) throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        FutureTask<LockHandle> waiter = fixture.startWaiting(request);
        fixture.settle();
        onceAfterRelease(InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT));

        lock.release();

        assertThat(got(waiter).isHeld()).isTrue();
    }

    static Stream<LockRequest> requestsWithoutHandOver() {
        return Stream.of(REQUEST.shared(), REQUEST.noHeartbeat(), REQUEST.ttl(WAITER_TTL.minusMillis(1)));
    }

    @Test
    void keys_that_are_released_together_are_each_handed_over() throws Exception {
        List<LockRequest> all = Stream.of("a", "b", "c")
                .map(key -> LockRequest.of(key).waitTime(Duration.ofHours(1)))
                .toList();
        LockHandles handles = locks.acquire(all);
        FutureTask<LockHandle> a = fixture.startWaiting(all.get(0));
        FutureTask<LockHandle> c = fixture.startWaiting(all.get(2));
        int before = fixture.backend.acquires.get();

        handles.close();

        assertThat(got(a).isHeld()).isTrue();
        assertThat(got(c).isHeld()).isTrue();
        assertThat(fixture.backend.acquires).hasValue(before);
    }

    @Test
    void the_deadline_counts_from_the_last_request_that_confirmed_the_queue_entry() throws Exception {
        // Without wake-ups, the waiter would poll when the clock moves.
        fixture.deliverWakeUps(true);
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofMillis(300));
        FutureTask<LockHandle> waiter = waiting();
        fixture.time.advance(Duration.ofMillis(500));
        fixture.backend.afterRelease = () -> fixture.time.advance(Duration.ofMillis(200));

        lock.release();

        assertThat(got(waiter).remaining()).isEqualTo(WAITER_TTL.minusSeconds(1));
    }

    /** The answer arrives after the waiter has gone, and after the next one came. */
    @Test
    void a_waiter_that_leaves_before_the_answer_arrives_gives_the_key_to_the_next() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        Thread[] thread = new Thread[1];
        FutureTask<LockHandle> first = inAnotherThread(() -> {
            thread[0] = Thread.currentThread();
            return locks.acquire(REQUEST);
        });
        eventually().until(() -> fixture.store.queue(KEY).size() == 1);
        FutureTask<LockHandle> second = fixture.startWaiting(REQUEST);
        fixture.settle();
        onceAfterRelease(() -> {
            fixture.deliverWakeUps(true);
            thread[0].interrupt();
            eventually().until(first::isDone);
        });

        lock.release();

        assertThatThrownBy(first::get).hasCauseInstanceOf(LockException.class);
        LockHandle next = got(second);
        assertThat(next.fence().value()).isEqualTo(3);
        next.release();
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @Test
    void a_waiter_whose_request_finds_the_grant_before_the_answer_arrives_holds_the_key_once() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        FutureTask<LockHandle> waiter = waiting();
        onceAfterRelease(() -> {
            fixture.backend.engine.wakeUpsMissed();
            eventually().until(waiter::isDone);
        });

        lock.release();

        assertThat(got(waiter).fence().value()).isEqualTo(2);
        assertThat(got(waiter).remaining()).isEqualTo(EngineFixture.TTL);
        got(waiter).release();
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @Test
    void an_engine_that_stops_before_the_answer_arrives_leaves_nothing_behind() {
        LockHandle lock = locks.acquire(REQUEST);
        FutureTask<LockHandle> waiter = waiting();
        List<FutureTask<Void>> stopping = new ArrayList<>();
        onceAfterRelease(() -> {
            stopping.add(inAnotherThread(() -> {
                locks.stop();
                return null;
            }));
            eventually().until(() -> !locks.grantsLocks());
        });

        lock.release();

        fixture.advanceUntil(stopping.get(0)::isDone);
        eventually().until(waiter::isDone);
        assertThatThrownBy(waiter::get).hasCauseInstanceOf(LockException.class);
        assertThat(fixture.store.usedKeys()).isEmpty();
    }

    @Test
    void the_waiter_is_granted_the_key_before_listeners_run() throws Exception {
        List<FutureTask<LockHandle>> waiters = new CopyOnWriteArrayList<>();
        List<Boolean> granted = new CopyOnWriteArrayList<>();
        EngineFixture listening = new EngineFixture(new LockListener() {
            @Override
            public void released(LockEvent event) {
                if (granted.isEmpty()) {
                    eventually().until(waiters.get(0)::isDone);
                    granted.add(true);
                    throw new OutOfMemoryError("as the test wants it");
                }
            }
        });
        try {
            listening.deliverWakeUps(false);
            LockHandle lock = listening.engine.acquire(REQUEST);
            waiters.add(listening.startWaiting(REQUEST));

            lock.release();

            assertThat(granted).containsExactly(true);
            assertThat(got(waiters.get(0)).isHeld()).isTrue();
        } finally {
            listening.close();
        }
    }

    private FutureTask<LockHandle> waiting() {
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST);
        fixture.settle();
        return waiter;
    }

    private void onceAfterRelease(Runnable action) {
        fixture.backend.afterRelease = () -> {
            fixture.backend.afterRelease = () -> {};
            action.run();
        };
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }
}
