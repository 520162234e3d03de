package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * A method with the annotation: when its lock is acquired and released, and what its caller sees.
 */
@Timeout(60)
class DistributedLockTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Orders.class);

    @Test
    void the_lock_is_held_while_the_body_runs_and_free_when_it_has_returned() {
        runner.run(context -> {
            boolean[] taken = new boolean[1];

            String result = context.getBean(Orders.class).submit(() -> {
                taken[0] = application.isTaken("orders");
                return "done";
            });

            assertThat(result).isEqualTo("done");
            assertThat(taken[0]).isTrue();
            assertThat(application.isTaken("orders")).isFalse();
        });
    }

    @Test
    void the_lock_is_free_when_the_body_has_thrown() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            IllegalStateException failure = new IllegalStateException("no stock");

            assertThatThrownBy(() -> orders.submit(() -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(application.isTaken("orders")).isFalse();
        });
    }

    @Test
    void a_checked_exception_reaches_the_caller_unwrapped() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            IOException failure = new IOException("disk full");

            assertThatThrownBy(() -> orders.export(failure)).isSameAs(failure);
            assertThat(application.isTaken("export")).isFalse();
        });
    }

    @Test
    void an_error_reaches_the_caller_unwrapped() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            AssertionError failure = new AssertionError("broken");

            assertThatThrownBy(() -> orders.submit(() -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(application.isTaken("orders")).isFalse();
        });
    }

    @Test
    void the_body_does_not_run_when_somebody_else_holds_the_key() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            application.takenBySomebodyElse("orders");

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> orders.submit(() -> "done"))
                    .satisfies(ex -> assertThat(ex.key()).isEqualTo("orders"));
            assertThat(orders.calls()).isZero();
            assertThat(application.isTaken("orders")).isTrue();
        });
    }

    @Test
    void a_call_waits_until_somebody_else_has_released_the_key() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);
            LockHandle other = application.takenBySomebodyElse("patient");
            CompletableFuture<String> call = CompletableFuture.supplyAsync(orders::patient);

            assertThatThrownBy(() -> call.get(100, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            other.release();

            assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo("patient");
        });
    }

    @Test
    void the_default_wait_time_is_that_of_the_limits() {
        runner.withBean(CallLimits.class, () -> SpringLocks.waiting(Duration.ofMillis(70)))
                .run(context -> {
                    Orders orders = context.getBean(Orders.class);
                    application.takenBySomebodyElse("orders");

                    assertThatThrownBy(() -> orders.submit(() -> "done"))
                            .isInstanceOfSatisfying(
                                    LockNotAcquiredException.class,
                                    refusal -> assertThat(refusal.waited())
                                            .isBetween(Duration.ofMillis(70), Duration.ofSeconds(4)));
                });
    }

    @Test
    void a_wait_time_of_zero_is_one_attempt() {
        runner.withBean(CallLimits.class, () -> SpringLocks.waiting(Duration.ofHours(1)))
                .run(context -> {
                    Orders orders = context.getBean(Orders.class);
                    application.takenBySomebodyElse("impatient");

                    assertThatThrownBy(orders::impatient)
                            .isInstanceOf(LockNotAcquiredException.class)
                            .hasMessageMatching(".*gave up after \\d{1,4} ms");
                });
    }

    @Test
    void the_attributes_of_the_annotation_reach_the_lock() {
        application
                .with(Everything.class)
                .withPropertyValues("orders.ttl=12s", "orders.wait=PT3S", "orders.keep=1ms")
                .run(context -> {
                    LockRequest request =
                            context.getBean(Everything.class).everything("7").request();

                    assertThat(request.name()).isEqualTo("everything");
                    assertThat(request.key()).isEqualTo("everything:7");
                    assertThat(request.ttl()).isEqualTo(Duration.ofSeconds(12));
                    assertThat(request.waitTime()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(3));
                    assertThat(request.holdAtLeast()).isEqualTo(Duration.ofMillis(1));
                    assertThat(request.heartbeat()).isFalse();
                    assertThat(request.onLost()).isEqualTo(OnLost.NOTIFY);
                });
    }

    @Test
    void iso_times_and_simple_ones_are_understood() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);

            assertThat(orders.iso().request().ttl()).isEqualTo(Duration.ofMinutes(1));
            assertThat(orders.simple().request().ttl()).isEqualTo(Duration.ofMillis(1500));
            assertThat(orders.iso().request().holdAtLeast()).isEqualTo(Duration.ofNanos(1));
        });
    }

    @Test
    void what_the_annotation_leaves_out_is_left_to_the_limits() {
        runner.run(context -> {
            LockRequest request = context.getBean(Orders.class).current().request();

            assertThat(request.ttl()).isNull();
            assertThat(request.heartbeat()).isTrue();
            assertThat(request.onLost()).isEqualTo(OnLost.INTERRUPT);
            assertThat(request.holdAtLeast()).isZero();
        });
    }

    @Test
    void the_default_ttl_is_that_of_the_limits() {
        runner.withBean(CallLimits.class, () -> new CallLimits(Duration.ZERO, 1, Duration.ofSeconds(7), Map.of()))
                .run(context -> {
                    Duration remaining = context.getBean(Orders.class).remaining();

                    assertThat(remaining).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(7));
                });
    }

    @Test
    void a_lock_without_a_name_counts_under_class_and_method_in_meters() {
        runner.run(context -> {
            LockRequest request = context.getBean(Orders.class).keyOnly("7").request();

            assertThat(request.key()).isEqualTo("7");
            assertThat(request.name()).isEqualTo("DistributedLockTests.Orders.keyOnly");
        });
    }

    @Test
    void a_kept_lock_stays_taken_after_the_return_and_keeps_no_thread() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);

            assertThat(orders.kept().state()).isEqualTo(LockHandle.State.RELEASED);
            assertThat(application.isTaken("kept")).isTrue();
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(orders::kept);

            application.store.expire("kept");
            assertThat(orders.kept().fence().value()).isEqualTo(2);
        });
    }

    @Test
    void a_kept_lock_is_kept_only_for_the_time_that_is_missing() {
        runner.run(context -> {
            context.getBean(Orders.class).kept();

            LockTemplate locks = context.getBean(LockTemplate.class);
            assertThat(locks.manager().admin().lookup("kept"))
                    .hasValueSatisfying(info -> assertThat(Duration.between(info.acquiredAt(), info.expiresAt()))
                            .isBetween(Duration.ofSeconds(19), Duration.ofSeconds(21)));
        });
    }

    @Test
    void nested_beans_with_the_same_key_share_one_grant() {
        application.with(Outer.class, Inner.class).run(context -> {
            LockHandle[] handles = context.getBean(Outer.class).nested("k");

            assertThat(handles[1].fence()).isEqualTo(handles[0].fence());
            assertThat(handles[1].lockId()).isEqualTo(handles[0].lockId());
            assertThat(application.grants("nested:k")).isEqualTo(1);
        });
    }

    @Test
    void an_inner_bean_frees_nothing_that_the_outer_one_still_needs() {
        application.with(Outer.class, Inner.class).run(context -> {
            Outer outer = context.getBean(Outer.class);

            assertThat(outer.takenAfterInner("k")).isTrue();
            assertThat(application.isTaken("nested:k")).isFalse();
        });
    }

    @Test
    void a_template_call_inside_joins_the_annotated_method() {
        runner.run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);

            String result = context.getBean(Orders.class).submit(() -> locks.execute("orders", lock -> "joined"));

            assertThat(result).isEqualTo("joined");
            assertThat(application.grants("orders")).isEqualTo(1);
        });
    }

    @Test
    void the_condition_decides_by_the_arguments_whether_to_lock() {
        runner.run(context -> {
            Orders orders = context.getBean(Orders.class);

            assertThat(orders.onlyLarge(1000)).isTrue();
            assertThat(orders.onlyLarge(1)).isFalse();
        });
    }

    @Test
    void a_call_whose_condition_is_not_met_runs_while_somebody_else_holds_the_key() {
        runner.run(context -> {
            application.takenBySomebodyElse("large");

            assertThat(context.getBean(Orders.class).onlyLarge(1)).isFalse();
        });
    }

    @Test
    void a_lock_exception_of_the_body_is_not_taken_for_contention() {
        runner.run(context -> {
            LockException failure = new LockNotAcquiredException("other", "from inside");

            assertThatThrownBy(() -> context.getBean(Orders.class).submit(() -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
        });
    }

    static class Orders {

        private final AtomicInteger calls = new AtomicInteger();

        int calls() {
            return calls.get();
        }

        @DistributedLock(name = "orders")
        public String submit(Supplier<String> body) {
            calls.incrementAndGet();
            return body.get();
        }

        @DistributedLock(name = "export")
        public void export(IOException failure) throws IOException {
            throw failure;
        }

        @DistributedLock(name = "patient", waitTime = "1h")
        public String patient() {
            return "patient";
        }

        @DistributedLock(name = "impatient", waitTime = "0s")
        public void impatient() {}

        @DistributedLock(name = "iso", ttl = "PT1M", holdAtLeast = "PT0.000000001S")
        public LockHandle iso() {
            return handle();
        }

        @DistributedLock(name = "simple", ttl = "1500ms")
        public LockHandle simple() {
            return handle();
        }

        @DistributedLock(name = "current")
        public LockHandle current() {
            return handle();
        }

        @DistributedLock(name = "remaining")
        public Duration remaining() {
            return handle().remaining();
        }

        @DistributedLock(key = "#id")
        public LockHandle keyOnly(String id) {
            return handle();
        }

        @DistributedLock(name = "kept", holdAtLeast = "20s", waitTime = "0s")
        public LockHandle kept() {
            return handle();
        }

        @DistributedLock(name = "large", condition = "#amount > 100")
        public boolean onlyLarge(int amount) {
            return LockHandle.current().isPresent();
        }

        private static LockHandle handle() {
            Optional<LockHandle> current = LockHandle.current();
            return current.orElseThrow();
        }
    }

    static class Everything {

        @DistributedLock(
                name = "everything",
                key = "#id",
                ttl = "${orders.ttl}",
                waitTime = "${orders.wait}",
                heartbeat = false,
                onLost = OnLost.NOTIFY,
                holdAtLeast = "${orders.keep}")
        public LockHandle everything(String id) {
            return LockHandle.current().orElseThrow();
        }
    }

    static class Outer {

        private final Inner inner;
        private final LockTemplate locks;

        Outer(Inner inner, LockTemplate locks) {
            this.inner = inner;
            this.locks = locks;
        }

        @DistributedLock(name = "nested", key = "#key")
        public LockHandle[] nested(String key) {
            return new LockHandle[] {LockHandle.current().orElseThrow(), inner.nested(key)};
        }

        @DistributedLock(name = "nested", key = "#key")
        public boolean takenAfterInner(String key) {
            inner.nested(key);
            return locks.manager().isLocked("nested:" + key);
        }
    }

    static class Inner {

        @DistributedLock(name = "nested", key = "#key")
        public LockHandle nested(String key) {
            return LockHandle.current().orElseThrow();
        }
    }
}
