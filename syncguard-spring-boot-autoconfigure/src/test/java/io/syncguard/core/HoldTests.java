package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.testing.BugOf;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a holder and a body learn: releases, losses, nesting. */
class HoldTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private final EngineFixture fixture = new EngineFixture();
    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void the_body_runs_under_the_lock_and_its_result_comes_back() {
        String result = template.execute("order:42", lock -> {
            assertThat(locks.isLocked("order:42")).isTrue();
            assertThat(LockHandle.current()).containsSame(lock);
            assertThat(LockHandle.current("order:42")).containsSame(lock);
            assertThat(LockHandle.current("order:43")).isEmpty();
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(LockHandle.current()).isEmpty();
    }

    @Test
    void a_checked_exception_reaches_the_caller_unwrapped_and_the_lock_is_released() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> template.executeWithoutResult(REQUEST, lock -> {
                    throw new IOException("disk");
                }))
                .withMessage("disk")
                .satisfies(ex -> assertThat(ex.getSuppressed()).isEmpty());

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @BugOf("klock: the body runs without the lock when the wait is over")
    @Test
    void a_try_that_is_refused_runs_nothing() {
        fixture.holdElsewhere("order:42", Duration.ofHours(1));
        AtomicInteger runs = new AtomicInteger();

        assertThat(template.tryExecute(REQUEST, lock -> runs.incrementAndGet())).isEmpty();
        assertThat(runs).hasValue(0);
        assertThat(template.tryExecute(LockRequest.of("order:43"), lock -> runs.incrementAndGet()))
                .contains(1);
    }

    @BugOf("lock4j: a release that is tested the wrong way round never happens")
    @Test
    void a_lock_is_released_once() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(lock.release()).isTrue();
        assertThat(lock.release()).isFalse();
        lock.close();

        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(lock.remaining()).isZero();
        assertThat(fixture.backend.releases).hasValue(1);
    }

    @BugOf("Redisson: ownership by thread id breaks when a lock is handed over")
    @Test
    void any_thread_may_release_and_the_first_may_acquire_again() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(inAnotherThread(lock::release).get()).isTrue();

        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
    }

    @BugOf("SyncGuard for TypeScript: the release is cancelled with its caller")
    @Test
    void a_release_is_sent_by_an_interrupted_thread_too_and_the_flag_stays() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease =
                () -> assertThat(Thread.currentThread().isInterrupted()).isFalse();

        Thread.currentThread().interrupt();
        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_release_that_fails_is_sent_again_in_the_background() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        assertThat(lock.release()).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.backend.beforeRelease = () -> {};

        untilFree();
        assertThat(fixture.events).contains("failed RELEASE SERVICE_UNAVAILABLE");
    }

    @Test
    void a_release_that_never_gets_through_is_given_up_when_the_ttl_is_over() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        lock.release();

        fixture.advanceSlowly(Duration.ofSeconds(40), Duration.ofSeconds(1));
        int sent = fixture.backend.releases.get();
        fixture.advanceSlowly(Duration.ofSeconds(10), Duration.ofSeconds(1));

        assertThat(fixture.backend.releases).hasValue(sent);
        assertThat(sent).isBetween(5, 30);
    }

    @Test
    void the_release_of_a_pinned_row_is_not_waited_for_and_gets_through_later() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.rowsArePinned = true;

        assertThat(lock.release()).isTrue();
        fixture.backend.rowsArePinned = false;

        untilFree();
    }

    @Test
    void a_release_by_lock_id_of_a_pinned_row_is_not_waited_for_and_gets_through_later() {
        Claim claim = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        fixture.backend.rowsArePinned = true;

        assertThat(locks.release(claim.lockId())).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.backend.rowsArePinned = false;

        untilFree();
    }

    @BugOf("SyncGuard for TypeScript: a lost lease is never reported")
    @Test
    void a_lock_that_was_gone_before_its_release_is_reported() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.store.expire("order:42");

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::close)
                .withMessageContaining("order:42");
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(fixture.events).doesNotContain("released");
    }

    @Test
    void a_loss_interrupts_the_body_and_is_thrown_at_its_end() throws Exception {
        FutureTask<List<String>> body = inAnotherThread(() -> {
            List<String> seen = new CopyOnWriteArrayList<>();
            assertThatThrownBy(() -> template.executeWithoutResult(REQUEST, lock -> {
                        try {
                            new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                        } catch (InterruptedException ex) {
                            seen.add("interrupted, " + lock.state());
                        }
                    }))
                    .isInstanceOf(LockLostException.class);
            seen.add("flag " + Thread.currentThread().isInterrupted());
            return seen;
        });
        eventually().until(() -> fixture.events.contains("acquired"));

        fixture.store.expire("order:42");
        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(body::isDone);
        assertThat(body.get()).containsExactly("interrupted, LOST", "flag false");
    }

    @Test
    void a_flag_that_the_body_left_up_after_a_loss_is_taken_down() {
        assertThatThrownBy(() -> template.executeWithoutResult(REQUEST.noHeartbeat(), lock -> {
                    fixture.time.advance(EngineFixture.TTL);
                    assertThat(Spin.until(Thread.currentThread()::isInterrupted))
                            .isTrue();
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void two_nested_locks_that_are_lost_one_after_the_other_interrupt_both_bodies() {
        LockRequest outer = LockRequest.of("outer").ttl(Duration.ofSeconds(20)).noHeartbeat();
        LockRequest inner = LockRequest.of("inner").ttl(Duration.ofSeconds(10)).noHeartbeat();

        assertThatThrownBy(() -> template.executeWithoutResult(outer, lock -> {
                    assertThatThrownBy(() -> template.executeWithoutResult(inner, innerLock -> {
                                fixture.time.advance(Duration.ofSeconds(10));
                                assertThat(Spin.until(Thread.currentThread()::isInterrupted))
                                        .isTrue();
                                fixture.time.advance(Duration.ofSeconds(10));
                                assertThat(Spin.until(() -> !lock.isHeld())).isTrue();
                            }))
                            .isInstanceOf(LockLostException.class);
                    assertThat(Spin.until(Thread.currentThread()::isInterrupted))
                            .as("the outer body has not seen its interrupt yet")
                            .isTrue();
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void a_body_that_only_wants_to_be_told_is_not_interrupted() {
        CountDownLatch told = new CountDownLatch(1);

        assertThatThrownBy(() ->
                        template.executeWithoutResult(REQUEST.noHeartbeat().onLost(OnLost.NOTIFY), lock -> {
                            lock.onLost(told::countDown);
                            fixture.time.advance(EngineFixture.TTL);
                            eventually().until(() -> told.getCount() == 0);
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                        }))
                .isInstanceOf(LockLostException.class);
    }

    @Test
    void the_bodys_own_exception_comes_first_and_the_loss_beneath_it() {
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> template.executeWithoutResult(REQUEST, lock -> {
                    fixture.store.expire("order:42");
                    throw new IllegalStateException("mine");
                }))
                .withMessage("mine")
                .satisfies(ex -> assertThat(ex.getSuppressed()).hasOnlyElementsOfType(LockLostException.class));
    }

    @Test
    void callbacks_of_a_loss_run_once_and_those_that_come_late_at_once() {
        AtomicInteger calls = new AtomicInteger();
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        lock.onLost(() -> {
            calls.incrementAndGet();
            throw new IllegalStateException("changes nothing");
        });
        lock.onLost(calls::incrementAndGet);

        fixture.time.advance(EngineFixture.TTL);
        eventually().until(() -> calls.get() == 2);
        lock.onLost(calls::incrementAndGet);

        eventually().until(() -> calls.get() == 3);
        fixture.advanceSlowly(EngineFixture.TTL, Duration.ofSeconds(10));
        assertThat(calls).hasValue(3);
        assertThat(fixture.events).containsOnlyOnce("lost");
    }

    @Test
    void a_lost_handle_is_released_at_the_server_when_its_body_has_ended() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat().ttl(Duration.ofMinutes(1)));
        fixture.time.advance(Duration.ofMinutes(1));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(locks.isLocked("order:42")).as("within the tolerance").isTrue();

        assertThat(lock.release()).isFalse();

        eventually().until(() -> !locks.isLocked("order:42"));
    }

    @Test
    void a_nested_request_joins_without_asking_the_server_and_its_release_frees_nothing() {
        template.executeWithoutResult(REQUEST, outer -> {
            template.executeWithoutResult(REQUEST, inner -> {
                assertThat(inner.fence()).isEqualTo(outer.fence());
                assertThat(inner.lockId()).isEqualTo(outer.lockId());
            });
            LockHandle tried = locks.tryAcquire(REQUEST);
            assertThat(tried).isNotNull();
            assertThat(tried.release()).isTrue();
            assertThat(tried.state()).isEqualTo(LockHandle.State.RELEASED);
            assertThat(outer.isHeld()).isTrue();
            assertThat(locks.isLocked("order:42")).isTrue();
        });

        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.backend.releases).hasValue(1);
    }

    @Test
    void a_nested_request_with_heartbeat_switches_that_of_the_outer_hold_on() {
        template.executeWithoutResult(REQUEST.noHeartbeat(), outer -> {
            template.executeWithoutResult(REQUEST, inner -> {
                fixture.advanceSlowly(Duration.ofMinutes(2), Duration.ofSeconds(5));
                assertThat(inner.isHeld()).isTrue();
            });
            assertThat(outer.isHeld()).isTrue();
        });
    }

    @Test
    void an_outer_hold_that_is_lost_makes_the_join_throw() {
        assertThatThrownBy(() -> template.executeWithoutResult(REQUEST.onLost(OnLost.NOTIFY), outer -> {
                    fixture.store.expire("order:42");
                    outer.extend(EngineFixture.TTL);
                    assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(LockLostException.class);
                    throw new IllegalStateException("reached the end");
                }))
                .hasMessage("reached the end");
        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @BugOf("Essentials: two threads of one process both own the lock")
    @Test
    void another_thread_does_not_join() throws Exception {
        template.execute("order:42", lock -> {
            assertThat(inAnotherThread(() -> locks.tryAcquire(REQUEST)).get()).isNull();
            return lock;
        });
    }

    @Test
    void a_bound_task_works_under_the_lock_on_another_thread() throws Exception {
        template.execute("order:42", lock -> {
            assertThat(inAnotherThread(lock.bind(() -> {
                                assertThat(LockHandle.current()).containsSame(lock);
                                return template.execute("order:42", LockHandle::fence);
                            }))
                            .get())
                    .isEqualTo(lock.fence());
            return lock;
        });
    }

    @Test
    void a_bound_task_does_not_begin_when_the_lock_is_gone() {
        LockHandle lock = locks.acquire(REQUEST);
        lock.release();

        assertThatThrownBy(() -> lock.bind(() -> "never").call()).isInstanceOf(LockLostException.class);
    }

    @Test
    void a_lock_that_is_to_be_held_at_least_for_a_time_stays_taken_without_a_thread() {
        template.execute(REQUEST.holdAtLeast(Duration.ofSeconds(10)), lock -> lock);

        assertThat(fixture.events).containsExactly("acquired", "released");
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        fixture.time.advance(Duration.ofMillis(1_001));
        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
        assertThat(fixture.backend.releases).hasValue(0);
    }

    @Test
    void the_time_to_hold_at_least_is_asked_for_again_when_that_fails() {
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        template.execute(
                REQUEST.ttl(Duration.ofSeconds(5)).noHeartbeat().holdAtLeast(Duration.ofMinutes(10)), lock -> lock);
        fixture.backend.beforeExtend = () -> {};

        fixture.advanceSlowly(Duration.ofSeconds(2), Duration.ofMillis(100));
        fixture.time.advance(Duration.ofMinutes(9));

        assertThat(locks.isLocked("order:42")).isTrue();
    }

    @Test
    void a_lock_that_was_held_long_enough_is_released() {
        template.execute(REQUEST.holdAtLeast(Duration.ofSeconds(10)), lock -> {
            fixture.time.advance(Duration.ofSeconds(10));
            return lock;
        });

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    /** The background reads the clock when it gets to it: it is moved until it has. */
    private void untilFree() {
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(100));
            return !locks.isLocked("order:42");
        });
    }

    /** Waits on the thread itself, whose flag a library that waits would take down. */
    private static final class Spin {

        static boolean until(BooleanSupplier condition) {
            long deadline = System.nanoTime() + 10_000_000_000L;
            while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            return condition.getAsBoolean();
        }
    }
}
