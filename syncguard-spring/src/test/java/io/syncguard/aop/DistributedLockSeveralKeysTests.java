package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.syncguard.DistributedLock;
import io.syncguard.IllegalKeyException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockOperations;
import io.syncguard.OnContention;
import io.syncguard.spi.StoreProbe;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A call that locks several keys: all of them or none, in one order.
 */
@Timeout(60)
class DistributedLockSeveralKeysTests {

    private static final CallLimits LIMITS =
            new CallLimits(Duration.ofMillis(50), 1000, Duration.ofSeconds(30), Map.of());

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Several.class, Grants.class);

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

    @ParameterizedTest
    @MethodSource
    void no_key_at_all_is_refused_because_the_body_would_run_without_a_lock(Object nothing) {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            List<ThrowingCallable> calls = List.of(
                    () -> several.objects(nothing),
                    () -> several.named(nothing),
                    () -> several.skippingAll(nothing),
                    () -> several.otherwise(nothing),
                    () -> several.later(nothing),
                    () -> several.published(nothing).block(Duration.ofSeconds(30)));

            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call)
                        .isInstanceOfSatisfying(
                                IllegalKeyException.class,
                                ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                        .hasMessageContainingAll("#value", "Several.", "no key", "condition");
            }
            assertThat(several.ran()).isEqualTo(0);
        });
    }

    static Stream<Object> no_key_at_all_is_refused_because_the_body_would_run_without_a_lock() {
        return Stream.of(
                List.of(),
                Set.of(),
                new ArrayList<>(),
                new ArrayDeque<>(),
                new TreeSet<>(),
                EnumSet.noneOf(LockMode.class),
                Map.of().keySet(),
                Map.of().entrySet(),
                new TreeMap<>().values(),
                new Object[] {new String[0]},
                new Object[] {new int[0][0]},
                new long[0],
                new boolean[0],
                Optional.of(List.of()),
                Optional.of(new int[0]));
    }

    /** Its text, such as {@code []}, would be the key of all calls without data. */
    @Test
    void a_value_without_data_is_refused_as_null_is() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            for (Object nothing : List.of(
                    Map.of(),
                    new TreeMap<>(),
                    new byte[0],
                    new char[0],
                    Optional.of(Map.of()),
                    new AtomicReference<>(),
                    new AtomicIntegerArray(0),
                    JsonNodeFactory.instance.arrayNode(),
                    JsonNodeFactory.instance.objectNode(),
                    JsonNodeFactory.instance.nullNode(),
                    JsonNodeFactory.instance.stringNode(""),
                    new Lines())) {
                assertRefusedAs("is empty for this call", () -> several.objects(nothing));
            }
            for (Object nothing : List.of(
                    List.of(),
                    Set.of(),
                    new int[0],
                    Optional.of(List.of()),
                    List.of(List.of()),
                    Collections.singletonList(null),
                    List.of(""),
                    new Object[] {List.of("\u00a0")},
                    List.of(Optional.empty()))) {
                assertRefusedAs("element 2 is empty for this call", () -> several.objects(List.of("a", nothing)));
                assertRefusedAs("element 1 is empty for this call", () -> several.objects(List.of(nothing)));
            }
            for (String blank : List.of("", " ", "\u00a0", "\u200b", "\ufeff", "\u2007\t", "\u0000")) {
                assertRefusedAs("is blank for this call", () -> several.objects(blank));
                assertRefusedAs("element 1 is blank for this call", () -> several.objects(List.of(blank)));
            }
            assertRefusedAs("is blank for this call", () -> several.objects(new AtomicReference<>("")));
            assertRefusedAs("is null for this call", () -> several.objects(Optional.empty()));
            assertThat(context.getBean(Grants.class).keys).isEmpty();
        });
    }

    private static void assertRefusedAs(String what, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalKeyException.class).hasMessageContainingAll(what, "condition");
    }

    /** An iterable that is no collection. */
    static final class Lines implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Collections.emptyIterator();
        }

        @Override
        public String toString() {
            return "[]";
        }
    }

    @Test
    void the_key_of_an_election_is_refused_wherever_it_comes_from() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            LockOperations template = context.getBean(LockOperations.class);
            List<ThrowingCallable> calls = List.of(
                    () -> several.objects("leader:scheduler"),
                    () -> several.objects(List.of("a", "leader:scheduler")),
                    () -> several.published(List.of("leader:scheduler", "m")).block(Duration.ofSeconds(30)),
                    () -> several.skippingAll("leader:"),
                    () -> several.leaders("scheduler"),
                    () -> template.tryExecute("leader:scheduler", lock -> several.ran()),
                    () -> template.execute("leader:scheduler", lock -> several.ran()));

            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call)
                        .isInstanceOf(IllegalKeyException.class)
                        .hasMessageContainingAll("'leader:'", "election", "name");
            }
            assertThat(several.ran()).isEqualTo(0);
            assertThat(context.getBean(Grants.class).keys).isEmpty();

            for (String key : List.of(StoreProbe.KEY, StoreProbe.KEY + ":2")) {
                assertThatThrownBy(() -> several.objects(key))
                        .isInstanceOf(IllegalKeyException.class)
                        .hasMessageContaining("health check");
            }

            several.named("leader:scheduler");
            several.objects("leader");
            assertThat(context.getBean(Grants.class).keys).containsExactly("order:leader:scheduler", "leader");
        });
    }

    @Test
    void a_condition_lets_the_body_run_without_keys() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);

            several.ifAny(List.of());
            several.ifAny(List.of("a"));

            assertThat(several.ran()).isEqualTo(2);
            assertThat(context.getBean(Grants.class).keys).containsExactly("a");
        });
    }

    @Test
    void a_projection_or_selection_that_leaves_nothing_is_refused() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);

            assertThatThrownBy(() -> several.orders(List.of()))
                    .isInstanceOf(IllegalKeyException.class)
                    .hasMessageContainingAll("#orders.![id]", "no key");
            assertThatThrownBy(() -> several.open(List.of(new Order(null))))
                    .isInstanceOf(IllegalKeyException.class)
                    .hasMessageContainingAll("no key");
        });
    }

    @Test
    void a_projection_or_selection_of_null_is_refused() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            for (ThrowingCallable call :
                    List.<ThrowingCallable>of(() -> several.orders(null), () -> several.open(null))) {
                assertThatThrownBy(call)
                        .isInstanceOf(IllegalKeyException.class)
                        .hasMessageContainingAll("#orders", "null has no elements");
            }
        });
    }

    /** Such a value has nothing to lock yet, and its text would be that of all others of its kind. */
    @ParameterizedTest
    @MethodSource
    void a_value_that_comes_later_is_no_key(Object later) {
        runner.run(context -> {
            Several several = context.getBean(Several.class);

            assertThatThrownBy(() -> several.objects(later))
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll("#value", later.getClass().getTypeName());
            assertThatThrownBy(() -> several.objects(List.of("a", later))).hasMessageContaining("element 2");
            assertThat(several.ran()).isEqualTo(0);
        });
    }

    static Stream<Object> a_value_that_comes_later_is_no_key() {
        return Stream.of(
                Mono.empty(),
                Mono.just("a"),
                Flux.empty(),
                Flux.just("a"),
                Mono.fromSupplier(() -> "a"),
                CompletableFuture.completedFuture("a"),
                new FutureTask<>(() -> "a"),
                Stream.empty(),
                List.of().iterator(),
                List.of().spliterator());
    }

    @Test
    void a_null_among_the_keys_is_refused_before_anything_is_locked() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);

            assertThatThrownBy(() -> several.all(Arrays.asList("a", null), () -> {}))
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll("#keys", "Several.all", "element 2", "null");
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
            application.takenBySomebodyElse("b");

            assertThatThrownBy(() -> context.getBean(Several.class).brief(List.of("a", "b", "c")))
                    .isInstanceOf(LockNotAcquiredException.class);

            assertThat(context.getBean(Several.class).waitTimes(List.of("a", "c")))
                    .containsOnly(Duration.ofHours(1));
        });
    }

    @Test
    void a_call_gives_up_when_the_wait_time_of_the_annotation_is_over() {
        runner.run(context -> {
            application.takenBySomebodyElse("b");

            assertThatThrownBy(() -> context.getBean(Several.class).brief(List.of("b")))
                    .isInstanceOfSatisfying(
                            LockNotAcquiredException.class,
                            ex -> assertThat(ex.waited()).isBetween(Duration.ofMillis(40), Duration.ofSeconds(30)));
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

    @Test
    void a_call_may_lock_a_hundred_keys_by_default_and_no_more() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            List<String> hundred = numbered(100);
            List<String> twice =
                    Stream.concat(hundred.stream(), hundred.stream()).toList();
            List<String> taken = new ArrayList<>();

            several.all(twice, () -> taken.addAll(taken(hundred.toArray(String[]::new))));

            assertThat(taken).hasSize(100);
            assertThat(taken(hundred.toArray(String[]::new))).isEmpty();
            int grants = context.getBean(Grants.class).keys.size();
            assertThatThrownBy(() -> several.all(numbered(101), () -> {}))
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContainingAll("Several.all", "#keys", "101 keys", "syncguard.aop.max-keys", "100");
            assertThat(context.getBean(Grants.class).keys).hasSize(grants);
        });
    }

    @Test
    void too_many_keys_are_counted_before_any_of_them_is_read() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            List<Object> unreadable =
                    Stream.<Object>generate(Unreadable::new).limit(1_000_000).toList();
            long[] numbers = LongStream.range(0, 1_000_000).toArray();
            List<ThrowingCallable> calls = List.of(
                    () -> several.objects(unreadable),
                    () -> several.objects(unreadable.toArray()),
                    () -> several.objects(new HashSet<>(unreadable)),
                    () -> several.objects(Optional.of(unreadable)),
                    () -> several.objects(Collections.synchronizedCollection(unreadable)),
                    () -> several.objects(new ArrayDeque<>(unreadable)),
                    () -> several.named(unreadable),
                    () -> several.numbers(numbers, () -> {}));

            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call)
                        .isInstanceOf(IllegalKeyException.class)
                        .hasMessageContainingAll("gives 101 ", " or more", "syncguard.aop.max-keys is 100");
            }
            assertThat(context.getBean(Grants.class).keys).isEmpty();
        });
    }

    @Test
    void keys_that_occur_again_and_again_are_judged_once() {
        runner.run(context -> {
            List<String> keys = Collections.nCopies(100_000, "a.".repeat(124) + ".A@1");

            assertTimeoutPreemptively(
                    Duration.ofSeconds(20), () -> context.getBean(Several.class).all(keys, () -> {}));

            assertThat(context.getBean(Grants.class).keys).hasSize(1);
        });
    }

    @Test
    void an_argument_of_many_parts_costs_little_where_a_key_looks_like_the_text_of_an_object() {
        runner.run(context -> {
            List<List<List<Object>>> parts = Collections.nCopies(
                    100,
                    Collections.nCopies(
                            100,
                            Stream.<Object>generate(ArrayList::new).limit(100).toList()));
            List<String> keys =
                    IntStream.range(0, 100).mapToObj(i -> "bob@" + i).toList();

            assertTimeoutPreemptively(
                    Duration.ofSeconds(20), () -> context.getBean(Several.class).beside(keys, parts));
        });
    }

    @Test
    void limits_permit_a_thousand_keys_also_for_futures() {
        List<String> thousand = numbered(1000);
        runner.withBean(CallLimits.class, () -> LIMITS).run(context -> {
            Several several = context.getBean(Several.class);
            List<Boolean> current = new ArrayList<>();

            several.all(
                    thousand,
                    () -> thousand.forEach(
                            key -> current.add(LockHandle.current(key).isPresent())));

            assertThat(current).hasSize(1000).containsOnly(true);
            assertThat(taken(thousand.toArray(String[]::new))).isEmpty();

            CompletableFuture<String> source = new CompletableFuture<>();
            CompletableFuture<String> result = several.future(thousand, source);
            assertThat(taken(thousand.toArray(String[]::new))).hasSize(1000);
            source.complete("done");
            assertThat(result).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("done");
            assertThat(taken(thousand.toArray(String[]::new))).isEmpty();
        });
    }

    @Test
    void a_publisher_locks_as_many_keys_as_permitted() {
        runner.withBean(CallLimits.class, () -> LIMITS).run(context -> {
            Several several = context.getBean(Several.class);
            for (int size : new int[] {100, 1000}) {
                List<String> keys = numbered(size);
                List<String> taken = new ArrayList<>();

                assertThat(several.mono(keys, () -> taken.addAll(taken(keys.toArray(String[]::new))))
                                .block(Duration.ofSeconds(50)))
                        .isEqualTo("done");

                assertThat(taken).hasSize(size);
                assertThat(taken(keys.toArray(String[]::new))).isEmpty();
            }
        });
    }

    @Test
    void a_held_key_in_the_middle_of_many_frees_all_the_others_in_reverse_order() {
        runner.withUserConfiguration(Releases.class).run(context -> {
            List<String> hundred = numbered(100);
            application.takenBySomebodyElse(hundred.get(50));

            assertThatThrownBy(() -> context.getBean(Several.class).all(hundred, () -> {}))
                    .isInstanceOf(LockNotAcquiredException.class);

            List<String> released = new ArrayList<>(hundred.subList(0, 50));
            Collections.reverse(released);
            assertThat(context.getBean(Releases.class).keys).isEqualTo(released);
        });
    }

    @Test
    void the_loss_of_one_of_many_ends_the_call_and_frees_the_others() {
        runner.run(context -> {
            List<String> hundred = numbered(100);
            LockManager manager = context.getBean(LockManager.class);

            assertThatThrownBy(() -> context.getBean(Several.class).all(hundred, () -> {
                        LockHandle lost = LockHandle.current(hundred.get(30)).orElseThrow();
                        manager.admin().forceRelease(lost.key());
                        assertThat(lost.extend(Duration.ofSeconds(30))).isFalse();
                    }))
                    .isInstanceOfSatisfying(
                            LockLostException.class, ex -> assertThat(ex.key()).isEqualTo(hundred.get(30)));
            assertThat(taken(hundred.toArray(String[]::new))).isEmpty();
        });
    }

    @Test
    void an_interrupt_while_one_of_many_is_waited_for_frees_the_others() {
        runner.run(context -> {
            List<String> hundred = numbered(100);
            application.takenBySomebodyElse(hundred.get(99));
            AtomicReference<Thread> waiting = new AtomicReference<>();
            CompletableFuture<List<Duration>> call = CompletableFuture.supplyAsync(() -> {
                waiting.set(Thread.currentThread());
                return context.getBean(Several.class).waitTimes(hundred);
            });
            await().atMost(Duration.ofSeconds(30)).until(() -> application.isTaken(hundred.get(98)));

            waiting.get().interrupt();

            assertThatThrownBy(() -> call.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
            assertThat(taken(hundred.subList(0, 99).toArray(String[]::new))).isEmpty();
        });
    }

    @Test
    void the_loss_of_a_lock_ends_the_wait_for_the_next_one() {
        runner.run(context -> {
            application.takenBySomebodyElse("b");
            CompletableFuture<List<Duration>> call = CompletableFuture.supplyAsync(
                    () -> context.getBean(Several.class).waitTimes(List.of("a", "b")));
            await().atMost(Duration.ofSeconds(30)).until(() -> application.isTaken("a"));
            LockManager manager = context.getBean(LockManager.class);

            manager.extend(manager.admin().debugLookup("a").get(0).lockId(), Duration.ofMillis(1));

            assertThatThrownBy(() -> call.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            LockLostException.class, ex -> assertThat(ex.key()).isEqualTo("a"));
        });
    }

    @Test
    void keys_that_are_held_already_are_joined() {
        runner.run(context -> {
            Several several = context.getBean(Several.class);
            List<String> taken = new ArrayList<>();

            several.all(List.of("b"), () -> {
                several.all(List.of("a", "b", "c"), () -> taken.addAll(taken("a", "b", "c")));
                taken.addAll(taken("a", "b", "c"));
            });

            assertThat(taken).containsExactly("a", "b", "c", "b");
            assertThat(context.getBean(Grants.class).keys).containsExactly("b", "a", "c");
        });
    }

    private static List<String> numbered(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(n -> String.format(Locale.ROOT, "key-%04d", n))
                .toList();
    }

    private static CompletableFuture<?> manyTimes(ApplicationContext context, List<String> keys) {
        Several several = context.getBean(Several.class);
        return CompletableFuture.runAsync(() -> IntStream.range(0, 100).forEach(i -> several.waitTimes(keys)));
    }

    private List<String> taken(String... keys) {
        return Arrays.stream(keys).filter(application::isTaken).toList();
    }

    /** The keys that were released, one after the other. */
    static class Releases implements LockListener {

        private final List<String> keys = new CopyOnWriteArrayList<>();

        @Override
        public void released(LockEvent event) {
            keys.add(event.key());
        }
    }

    record Order(@Nullable String id) {}

    /** Each is different from all others. */
    static class Unreadable {

        @Override
        public String toString() {
            throw new AssertionError("Nothing reads one of too many keys");
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
        public CompletableFuture<String> future(Collection<String> keys, CompletableFuture<String> source) {
            return source;
        }

        @DistributedLock(key = "#keys")
        public Mono<String> mono(Collection<String> keys, Runnable body) {
            return Mono.fromSupplier(() -> {
                body.run();
                return "done";
            });
        }

        @DistributedLock(key = "#keys")
        public void numbers(long[] keys, Runnable body) {
            body.run();
        }

        private final AtomicInteger ran = new AtomicInteger();

        public int ran() {
            return ran.get();
        }

        @DistributedLock(key = "#value")
        public void objects(Object value) {
            ran.incrementAndGet();
        }

        @DistributedLock(name = "order", key = "#value")
        public void named(Object value) {
            ran.incrementAndGet();
        }

        @DistributedLock(name = "leader", key = "#value")
        public void leaders(Object value) {
            ran.incrementAndGet();
        }

        @DistributedLock(key = "#value", onContention = OnContention.SKIP)
        public void skippingAll(Object value) {
            ran.incrementAndGet();
        }

        @DistributedLock(key = "#value", fallback = "objects")
        public void otherwise(Object value) {
            ran.incrementAndGet();
        }

        @DistributedLock(key = "#value")
        public CompletableFuture<Integer> later(Object value) {
            return CompletableFuture.completedFuture(ran.incrementAndGet());
        }

        @DistributedLock(key = "#value")
        public Mono<Integer> published(Object value) {
            return Mono.fromSupplier(ran::incrementAndGet);
        }

        @DistributedLock(key = "#keys", condition = "!#keys.empty")
        public void ifAny(List<String> keys) {
            ran.incrementAndGet();
        }

        @DistributedLock(key = "#orders.?[id != null].![id]")
        public void open(@Nullable List<Order> orders) {
            ran.incrementAndGet();
        }

        @DistributedLock(key = "#keys")
        public void beside(List<String> keys, Object argument) {}

        @DistributedLock(name = "account", key = "{#from, #to}")
        public void transfer(String from, String to) {}

        @DistributedLock(key = "#orders.![id]")
        public void orders(@Nullable List<Order> orders) {}

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
