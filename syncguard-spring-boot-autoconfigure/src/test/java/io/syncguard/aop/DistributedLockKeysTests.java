package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.stereotype.Component;

/**
 * How a call says what it locks.
 */
@Timeout(60)
class DistributedLockKeysTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner =
            application.with(Keyed.class, Several.class, Tenant.class, Grants.class);

    @Test
    void a_name_alone_is_the_key() {
        assertKey("name", Keyed::nameOnly);
    }

    @Test
    void a_name_may_come_from_a_property() {
        assertKey("tenant-7-import", Keyed::nameFromProperty);
    }

    @Test
    void a_key_alone_is_the_key() {
        assertKey("42", keyed -> keyed.keyOnly("42"));
    }

    @Test
    void name_and_key_are_joined_by_a_colon() {
        assertKey("order:42", keyed -> keyed.nameAndKey(42));
    }

    @Test
    void a_key_may_be_a_constant() {
        assertKey("constant", Keyed::constant);
    }

    @Test
    void arguments_are_known_by_name() {
        assertKey("a-b", keyed -> keyed.byName("a", "b"));
    }

    @Test
    void arguments_are_known_as_p_and_position() {
        assertKey("a-b", keyed -> keyed.byP("a", "b"));
    }

    @Test
    void arguments_are_known_as_a_and_position() {
        assertKey("a-b", keyed -> keyed.byA("a", "b"));
    }

    @Test
    void properties_of_arguments_are_known() {
        assertKey("order:7", keyed -> keyed.property(new Order("7")));
    }

    @Test
    void the_method_is_known() {
        assertKey("methodName", Keyed::methodName);
    }

    @Test
    void all_arguments_are_known() {
        assertKey("b", keyed -> keyed.arguments("a", "b"));
    }

    @Test
    void the_bean_and_its_class_are_known() {
        assertKey("Keyed-target", Keyed::target);
    }

    @Test
    void other_beans_are_known() {
        assertKey("acme:x", keyed -> keyed.bean("x"));
    }

    @Test
    void the_condition_sees_what_the_key_sees() {
        runner.run(context -> {
            Keyed keyed = context.getBean(Keyed.class);

            assertThat(keyed.conditional("x", true)).contains("x");
            assertThat(keyed.conditional("x", false)).isEmpty();
        });
    }

    @Test
    void a_condition_is_asked_before_the_key() {
        runner.run(context ->
                assertThat(context.getBean(Keyed.class).unlessNull(null)).isEmpty());
    }

    @Test
    void a_condition_that_is_neither_true_nor_false_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.unclear(1), "#amount", "Keyed.unclear", "true");
    }

    @Test
    void an_expression_that_cannot_be_evaluated_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.property(null), "#order.id", "Keyed.property", "null");
    }

    @Test
    void a_null_key_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly(null), "#id", "Keyed.keyOnly", "null");
    }

    @Test
    void an_empty_key_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly(""), "#id", "Keyed.keyOnly", "blank");
    }

    @Test
    void a_blank_key_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly(" \t\n"), "#id", "Keyed.keyOnly", "blank");
    }

    @Test
    void an_object_that_has_no_text_of_its_own_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.object(new Object()), "#anything", "Keyed.object", "toString");
    }

    @Test
    void a_null_key_is_refused_also_beneath_a_name() {
        assertRefused(keyed -> keyed.property(new Order(null)), "#order.id", "Keyed.property", "null");
    }

    @Test
    void a_key_that_is_too_long_is_refused_at_the_call() {
        assertRefused(keyed -> keyed.keyOnly("k".repeat(513)), "512");
    }

    @Test
    void all_keys_of_a_collection_are_locked_while_the_body_runs() {
        runner.run(context -> {
            List<String> taken = new ArrayList<>();

            context.getBean(Several.class).all(Set.of("a", "b", "c"), () -> taken.addAll(taken("a", "b", "c")));

            assertThat(taken).containsExactly("a", "b", "c");
            assertThat(taken("a", "b", "c")).isEmpty();
        });
    }

    @Test
    void all_keys_of_an_array_are_locked_while_the_body_runs() {
        runner.run(context -> {
            List<String> taken = new ArrayList<>();

            context.getBean(Several.class).array(new String[] {"b", "a"}, () -> taken.addAll(taken("a", "b")));

            assertThat(taken).containsExactly("a", "b");
            assertThat(taken("a", "b")).isEmpty();
        });
    }

    @Test
    void all_numbers_of_an_array_are_locked_while_the_body_runs() {
        runner.run(context -> {
            List<String> taken = new ArrayList<>();

            context.getBean(Several.class).numbers(new long[] {2, 1}, () -> taken.addAll(taken("1", "2")));

            assertThat(taken).containsExactly("1", "2");
        });
    }

    @Test
    void a_list_in_the_expression_locks_all_its_keys() {
        runner.run(context -> {
            context.getBean(Several.class).transfer("z", "y");

            assertThat(context.getBean(Grants.class).keys).containsExactly("account:y", "account:z");
        });
    }

    @Test
    void a_projection_locks_all_its_keys() {
        runner.run(context -> {
            context.getBean(Several.class).orders(List.of(new Order("2"), new Order("1")));

            assertThat(context.getBean(Grants.class).keys).containsExactly("1", "2");
        });
    }

    @Test
    void keys_are_taken_in_one_order_whatever_that_of_the_arguments() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            Grants grants = context.getBean(Grants.class);

            several.all(List.of("b", "c", "a"), () -> {});
            several.all(List.of("c", "a", "b"), () -> {});

            assertThat(grants.keys).containsExactly("a", "b", "c", "a", "b", "c");
        });
    }

    @Test
    void keys_are_ordered_by_their_bytes_as_the_server_orders_them() {
        runner.run(context -> {
            String grin = "\uD83D\uDE00";
            String fullWidth = "\uFF21";

            context.getBean(Several.class).all(List.of(grin, fullWidth, "\u00e9", "z"), () -> {});

            assertThat(context.getBean(Grants.class).keys).containsExactly("z", "\u00e9", fullWidth, grin);
        });
    }

    @Test
    void a_key_that_occurs_twice_is_locked_once() {
        runner.run(context -> {
            context.getBean(Several.class).all(List.of("a", "e\u0301", "a", "\u00e9"), () -> {});

            assertThat(context.getBean(Grants.class).keys).containsExactly("a", "\u00e9");
        });
    }

    @Test
    void an_empty_collection_runs_the_body_without_a_lock() {
        runner.run(context -> {
            List<Boolean> locked = new ArrayList<>();

            context.getBean(Several.class)
                    .all(List.of(), () -> locked.add(LockHandle.current().isPresent()));

            assertThat(locked).containsExactly(false);
        });
    }

    @Test
    void a_null_among_the_keys_is_refused_before_anything_is_locked() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);

            assertThatThrownBy(() -> several.all(Arrays.asList("a", null), () -> {}))
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll("#keys", "Several.all", "null");
            assertThat(application.grants("a")).isZero();
        });
    }

    @Test
    void a_held_key_among_several_leaves_all_the_others_free_and_the_body_out() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            List<String> calls = new ArrayList<>();
            application.takenBySomebodyElse("b");

            assertThatThrownBy(() -> several.all(List.of("a", "b", "c"), () -> calls.add("ran")))
                    .isInstanceOfSatisfying(
                            LockNotAcquiredException.class,
                            ex -> assertThat(ex.key()).isEqualTo("b"));
            assertThat(calls).isEmpty();
            assertThat(taken("a", "c")).isEmpty();
        });
    }

    @Test
    void a_held_key_among_several_leaves_a_skipping_method_out() {
        runner.run(context -> {
            application.takenBySomebodyElse("b");

            assertThat(context.getBean(Several.class).skipping(List.of("a", "b")))
                    .isNull();
            assertThat(taken("a")).isEmpty();
        });
    }

    @Test
    void a_body_that_ran_keeps_all_its_keys_for_the_least_time() {
        runner.run(context -> {
            assertThat(context.getBean(Several.class).kept(List.of("a", "b"))).isEqualTo("ran");
            assertThat(taken("a", "b")).containsExactly("a", "b");
        });
    }

    @Test
    void a_lock_exception_of_the_body_reaches_the_caller_of_a_skipping_method_with_several_keys() {
        runner.run(context -> {
            LockException failure = new LockNotAcquiredException("a", "from the body");

            assertThatThrownBy(() -> context.getBean(Several.class).skipping(List.of("a", "b"), failure))
                    .isSameAs(failure);
        });
    }

    @Test
    void several_keys_share_one_wait_time() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            LockHandle other = application.takenBySomebodyElse("a");
            CompletableFuture<List<Duration>> call =
                    CompletableFuture.supplyAsync(() -> several.waitTimes(List.of("a", "b")));
            assertThatThrownBy(() -> call.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

            other.release();

            List<Duration> waitTimes = call.get(10, TimeUnit.SECONDS);
            assertThat(waitTimes.get(0)).isEqualTo(Duration.ofHours(1));
            assertThat(waitTimes.get(1)).isLessThan(Duration.ofHours(1).minusMillis(150));
        });
    }

    @Test
    void the_wait_time_of_the_annotation_is_that_of_the_message() {
        runner.run(context -> {
            application.takenBySomebodyElse("b");

            assertThatThrownBy(() -> context.getBean(Several.class).brief(List.of("b")))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("40 ms");
        });
    }

    @Test
    void calls_with_crossing_keys_never_wait_for_each_other() {
        runner.run(one -> runner.run(two -> {
            CompletableFuture<?> ascending = manyTimes(one, List.of("x", "y"));
            CompletableFuture<?> descending = manyTimes(two, List.of("y", "x"));

            await().atMost(Duration.ofSeconds(30)).until(() -> ascending.isDone() && descending.isDone());
            assertThat(ascending).isCompleted();
            assertThat(descending).isCompleted();
        }));
    }

    private static CompletableFuture<?> manyTimes(ApplicationContext context, List<String> keys) {
        Several several = context.getBean(Several.class);
        return CompletableFuture.runAsync(() -> IntStream.range(0, 100).forEach(i -> several.waitTimes(keys)));
    }

    private List<String> taken(String... keys) {
        return Arrays.stream(keys).filter(application::isTaken).toList();
    }

    private void assertKey(String key, Call call) {
        runner.withPropertyValues("tenant.number=7").run(context -> {
            Grants grants = context.getBean(Grants.class);

            call.on(context.getBean(Keyed.class));

            assertThat(grants.keys).containsExactly(key);
        });
    }

    private void assertRefused(Call call, String... parts) {
        runner.run(context -> {
            ThrowingCallable refused = () -> call.on(context.getBean(Keyed.class));

            assertThatThrownBy(refused)
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll(parts);
            assertThat(context.getBean(Grants.class).keys).isEmpty();
        });
    }

    @FunctionalInterface
    private interface Call {
        void on(Keyed keyed);
    }

    record Order(@Nullable String id) {}

    @Component("tenant")
    static class Tenant {

        public String getId() {
            return "acme";
        }
    }

    static class Grants implements LockListener {

        private final List<String> keys = new CopyOnWriteArrayList<>();

        @Override
        public void acquired(LockEvent event) {
            keys.add(event.key());
        }
    }

    static class Keyed {

        @DistributedLock(key = "#anything")
        void object(Object anything) {}

        @DistributedLock(name = "name")
        public void nameOnly() {}

        @DistributedLock(name = "tenant-${tenant.number:0}-import")
        public void nameFromProperty() {}

        @DistributedLock(key = "#id")
        public void keyOnly(@Nullable String id) {}

        @DistributedLock(name = "order", key = "#id")
        public void nameAndKey(int id) {}

        @DistributedLock(key = "'constant'")
        public void constant() {}

        @DistributedLock(key = "#from + '-' + #to")
        public void byName(String from, String to) {}

        @DistributedLock(key = "#p0 + '-' + #p1")
        public void byP(String from, String to) {}

        @DistributedLock(key = "#a0 + '-' + #a1")
        public void byA(String from, String to) {}

        @DistributedLock(name = "order", key = "#order.id")
        public void property(@Nullable Order order) {}

        @DistributedLock(name = "unclear", condition = "#amount")
        public void unclear(int amount) {}

        @DistributedLock(key = "#root.method.name")
        public void methodName() {}

        @DistributedLock(key = "#root.args[1]")
        public void arguments(String first, String second) {}

        @DistributedLock(key = "#root.targetClass.simpleName + '-' + #root.target.label()")
        public void target() {}

        @DistributedLock(key = "@tenant.id + ':' + #id")
        public void bean(String id) {}

        @DistributedLock(key = "#id", condition = "#locked")
        public Optional<String> conditional(String id, boolean locked) {
            return LockHandle.current().map(LockHandle::key);
        }

        @DistributedLock(key = "#id", condition = "#id != null")
        public Optional<String> unlessNull(@Nullable String id) {
            return LockHandle.current().map(LockHandle::key);
        }

        public String label() {
            return "target";
        }
    }

    static class Several {

        @DistributedLock(key = "#keys")
        public void all(Collection<@Nullable String> keys, Runnable body) {
            body.run();
        }

        @DistributedLock(key = "#keys")
        public void array(String[] keys, Runnable body) {
            body.run();
        }

        @DistributedLock(key = "#keys")
        public void numbers(long[] keys, Runnable body) {
            body.run();
        }

        @DistributedLock(name = "account", key = "{#from, #to}")
        public void transfer(String from, String to) {}

        @DistributedLock(key = "#orders.![id]")
        public void orders(List<Order> orders) {}

        @DistributedLock(key = "#keys", onContention = OnContention.SKIP)
        public String skipping(List<String> keys) {
            return "ran";
        }

        @DistributedLock(key = "#keys", onContention = OnContention.SKIP)
        public String skipping(List<String> keys, RuntimeException failure) {
            throw failure;
        }

        @DistributedLock(key = "#keys", onContention = OnContention.SKIP, holdAtLeast = "20s")
        public String kept(List<String> keys) {
            return "ran";
        }

        @DistributedLock(key = "#keys", waitTime = "40ms")
        public void brief(List<String> keys) {}

        @DistributedLock(key = "#keys", waitTime = "1h")
        public List<Duration> waitTimes(List<String> keys) {
            return keys.stream()
                    .map(key -> LockHandle.current(key).orElseThrow().request())
                    .map(request -> Optional.ofNullable(request.waitTime()).orElseThrow())
                    .toList();
        }
    }
}
