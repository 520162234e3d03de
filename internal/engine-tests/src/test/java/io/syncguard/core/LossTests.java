package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lock that is lost: which code is notified, when, and how the body is interrupted. */
class LossTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

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
    void a_body_that_only_wants_to_be_notified_is_not_interrupted() {
        CountDownLatch notified = new CountDownLatch(1);

        assertThatThrownBy(() ->
                        template.executeWithoutResult(REQUEST.noHeartbeat().onLost(OnLost.NOTIFY), lock -> {
                            lock.onLost(notified::countDown);
                            fixture.time.advance(EngineFixture.TTL);
                            eventually().until(() -> notified.getCount() == 0);
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

    /** Spins, because a library method that waits would clear the interrupt flag. */
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
