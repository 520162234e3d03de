package io.syncguard.core;

import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.LockUnavailableException;
import io.syncguard.OnLost;
import io.syncguard.TryResult;
import io.syncguard.testing.BugOf;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a body may rely on while it has the lock, even if it asks for the key again or runs on another thread. */
class HeldLockTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

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

    @Test
    void a_server_that_failed_in_the_work_of_another_thread_did_not_fail_before_the_body() {
        LockUnavailableException failure =
                new LockUnavailableException(LockErrorCode.SERVICE_UNAVAILABLE, "of another lock", null);

        for (Exception thrown : List.of(failure, new CompletionException(failure), new ExecutionException(failure))) {
            assertThatThrownBy(() -> template.executeWithoutResult(REQUEST, lock -> {
                        throw thrown;
                    }))
                    .isExactlyInstanceOf(LockBackendException.class)
                    .hasMessage("of another lock")
                    .hasCause(thrown);
        }
    }

    @BugOf("klock: the body runs without the lock when the wait is over")
    @Test
    void a_try_that_is_refused_runs_nothing() {
        fixture.holdElsewhere("order:42", Duration.ofHours(1));
        AtomicInteger runs = new AtomicInteger();

        assertThat(template.tryExecute(REQUEST, lock -> runs.incrementAndGet()))
                .isEqualTo(new TryResult<>(false, null));
        assertThat(runs).hasValue(0);
        assertThat(template.tryExecute(LockRequest.of("order:43"), lock -> runs.incrementAndGet()))
                .isEqualTo(new TryResult<>(true, 1));
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
    void a_nested_request_keeps_the_key_taken_for_its_own_time_from_when_it_joined() {
        template.executeWithoutResult(REQUEST.holdAtLeast(Duration.ofSeconds(5)), outer -> {
            fixture.time.advance(Duration.ofSeconds(3));
            template.executeWithoutResult(REQUEST.holdAtLeast(Duration.ofSeconds(4)), inner -> {});
            template.executeWithoutResult(REQUEST.holdAtLeast(Duration.ofSeconds(1)), inner -> {});
            template.executeWithoutResult(REQUEST, inner -> {});
        });

        fixture.time.advance(Duration.ofMillis(3_999));
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
    }

    @Test
    void the_time_of_a_nested_request_is_no_shorter_when_the_answer_to_the_outer_one_was_slow() {
        fixture.backend.beforeAcquire = () -> fixture.time.advance(Duration.ofSeconds(1));
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(2));
        LockHandle outer = locks.acquire(REQUEST);
        fixture.backend.beforeAcquire = () -> {};
        fixture.backend.afterAcquire = () -> {};
        outer.bind(() -> locks.acquire(REQUEST.holdAtLeast(Duration.ofSeconds(4)))
                        .close())
                .run();
        outer.release();

        fixture.time.advance(Duration.ofMillis(3_999));
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        fixture.time.advance(Duration.ofMillis(1_001));
        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
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
}
