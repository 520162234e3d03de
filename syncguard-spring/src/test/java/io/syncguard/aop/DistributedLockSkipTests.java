package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What a method returns when it is skipped because another process holds its key. */
@Timeout(60)
class DistributedLockSkipTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Jobs.class, Results.class);

    @Test
    void a_body_is_left_out_when_somebody_else_holds_the_key() {
        runner.run(context -> {
            application.takenBySomebodyElse("job");

            assertThat(context.getBean(Jobs.class).run(() -> "done")).isNull();
            assertThat(application.isTaken("job")).isTrue();
        });
    }

    @Test
    void a_body_runs_when_the_key_is_free() {
        runner.run(context -> {
            assertThat(context.getBean(Jobs.class).run(() -> "done")).isEqualTo("done");
            assertThat(application.isTaken("job")).isFalse();
        });
    }

    @Test
    void a_body_that_is_left_out_is_logged_at_debug_with_who_holds_the_key() {
        runner.run(context -> {
            application.takenBySomebodyElse("job");
            try (CapturedLog log = new CapturedLog(Level.DEBUG)) {
                context.getBean(Jobs.class).run(() -> "done");

                assertThat(log.messages())
                        .singleElement()
                        .asString()
                        .startsWith("Skipped Jobs.run: Lock 'job' is held by somebody else since ");
            }
        });
    }

    @Test
    void a_skipping_method_makes_one_attempt_whatever_the_default_wait_time() {
        runner.withBean(CallLimits.class, () -> SpringLocks.waiting(Duration.ofHours(1)))
                .run(context -> {
                    application.takenBySomebodyElse("job");

                    assertThat(context.getBean(Jobs.class).run(() -> "done")).isNull();
                });
    }

    @Test
    void a_skipping_method_waits_when_it_says_so() {
        runner.run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            LockHandle other = application.takenBySomebodyElse("patient");
            CompletableFuture<String> call = CompletableFuture.supplyAsync(jobs::patient);

            assertThatThrownBy(() -> call.get(100, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            other.release();

            assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo("patient");
        });
    }

    @Test
    void a_skipping_method_gives_up_at_the_end_of_its_wait_time() {
        runner.run(context -> {
            application.takenBySomebodyElse("brief");

            assertThat(context.getBean(Jobs.class).brief()).isNull();
        });
    }

    @BugOf("alturkovic: a lock exception of the body is taken for a refusal and becomes null")
    @ParameterizedTest
    @MethodSource("lockExceptions")
    void a_lock_exception_of_the_body_reaches_the_caller(LockException failure) {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(Jobs.class).run(() -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(application.isTaken("job")).isFalse();
        });
    }

    static Stream<LockException> lockExceptions() {
        return Stream.of(
                new LockNotAcquiredException("job", "from the body"),
                new LockLostException("job", "from the body"),
                new LockException(LockErrorCode.INTERNAL, "from the body"));
    }

    @Test
    void contention_of_a_nested_method_that_does_not_skip_reaches_the_caller() {
        runner.run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            application.takenBySomebodyElse("strict");

            assertThatThrownBy(() -> jobs.run(() -> jobs.strict()))
                    .isInstanceOfSatisfying(
                            LockNotAcquiredException.class,
                            ex -> assertThat(ex.key()).isEqualTo("strict"));
        });
    }

    @Test
    void a_refused_argument_reaches_the_caller() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Jobs.class).keyed(""))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("results")
    void a_skipped_call_returns_nothing(
            String type, Function<Results, @Nullable Object> call, @Nullable Object nothing) {
        runner.run(context -> {
            application.takenBySomebodyElse("results");

            assertThat(call.apply(context.getBean(Results.class))).isEqualTo(nothing);
        });
    }

    static Stream<Arguments> results() {
        return Stream.of(
                result(
                        "void",
                        each -> {
                            each.nothing();
                            return null;
                        },
                        null),
                result("boolean", Results::aBoolean, false),
                result("byte", Results::aByte, (byte) 0),
                result("short", Results::aShort, (short) 0),
                result("char", Results::aChar, '\0'),
                result("int", Results::anInt, 0),
                result("long", Results::aLong, 0L),
                result("float", Results::aFloat, 0f),
                result("double", Results::aDouble, 0d),
                result("Boolean", Results::boxedBoolean, null),
                result("Integer", Results::boxedInteger, null),
                result("String", Results::string, null),
                result("record", Results::receipt, null),
                result("Object", Results::object, null),
                result("type variable", Results::generic, null),
                result("Optional", Results::optional, Optional.empty()),
                result("OptionalInt", Results::optionalInt, OptionalInt.empty()),
                result("OptionalLong", Results::optionalLong, OptionalLong.empty()),
                result("OptionalDouble", Results::optionalDouble, OptionalDouble.empty()),
                result("List", Results::list, List.of()),
                result("ArrayList", Results::arrayList, List.of()),
                result("Collection", Results::collection, List.of()),
                result("Iterable", Results::iterable, List.of()),
                result("Set", Results::set, Set.of()),
                result("SortedSet", Results::sortedSet, Set.of()),
                result("Map", Results::map, Map.of()),
                result("HashMap", Results::hashMap, Map.of()),
                result("SortedMap", Results::sortedMap, Map.of()),
                result("NavigableMap", Results::navigableMap, Map.of()));
    }

    @Test
    void a_skipped_queue_is_empty() {
        runner.run(context -> {
            application.takenBySomebodyElse("results");
            Results results = context.getBean(Results.class);

            assertThat(results.queue()).isNotNull().isEmpty();
            assertThat(results.deque()).isNotNull().isEmpty();
        });
    }

    @Test
    void a_skipped_array_is_empty() {
        runner.run(context -> {
            application.takenBySomebodyElse("results");
            Results results = context.getBean(Results.class);

            assertThat(results.ints()).isNotNull().isEmpty();
            assertThat(results.strings()).isNotNull().isEmpty();
            assertThat(results.matrix()).isNotNull().isEmpty();
        });
    }

    @Test
    void a_skipped_future_is_done_with_nothing_in_it() {
        runner.run(context -> {
            application.takenBySomebodyElse("results");
            Results results = context.getBean(Results.class);

            assertThat(results.future()).isCompletedWithValue(Optional.empty());
            assertThat(results.stage().toCompletableFuture()).isCompletedWithValue(List.of());
            assertThat(results.plainFuture()).isDone();
            assertThat(results.plainFuture().get()).isNull();
            assertThat(results.voidFuture()).isCompletedWithValue(null);
            assertThat(results.rawFuture()).isDone();
        });
    }

    @Test
    void a_skipped_collection_belongs_to_its_caller() {
        runner.run(context -> {
            application.takenBySomebodyElse("results");
            Results results = context.getBean(Results.class);

            results.list().add("mine");

            assertThat(results.list()).isEmpty();
        });
    }

    private static Arguments result(String type, Function<Results, @Nullable Object> call, @Nullable Object nothing) {
        return Arguments.of(type, call, nothing);
    }

    static class Jobs {

        @DistributedLock(name = "job", onContention = OnContention.SKIP)
        public @Nullable String run(Supplier<@Nullable String> body) {
            return body.get();
        }

        @DistributedLock(name = "patient", waitTime = "1h", onContention = OnContention.SKIP)
        public String patient() {
            return "patient";
        }

        @DistributedLock(name = "brief", waitTime = "30ms", onContention = OnContention.SKIP)
        public String brief() {
            return "brief";
        }

        @DistributedLock(name = "strict", waitTime = "0s")
        public String strict() {
            return "strict";
        }

        @DistributedLock(key = "#key", onContention = OnContention.SKIP)
        public void keyed(String key) {}
    }

    record Receipt(String id) {}

    @DistributedLock(name = "results", onContention = OnContention.SKIP)
    static class Results {

        public void nothing() {
            throw new AssertionError("The body ran");
        }

        public boolean aBoolean() {
            return true;
        }

        public byte aByte() {
            return 1;
        }

        public short aShort() {
            return 1;
        }

        public char aChar() {
            return 'x';
        }

        public int anInt() {
            return 1;
        }

        public long aLong() {
            return 1;
        }

        public float aFloat() {
            return 1;
        }

        public double aDouble() {
            return 1;
        }

        public Boolean boxedBoolean() {
            return true;
        }

        public Integer boxedInteger() {
            return 1;
        }

        public String string() {
            return "x";
        }

        public Receipt receipt() {
            return new Receipt("x");
        }

        public Object object() {
            return "x";
        }

        public Optional<String> optional() {
            return Optional.of("x");
        }

        public OptionalInt optionalInt() {
            return OptionalInt.of(1);
        }

        public OptionalLong optionalLong() {
            return OptionalLong.of(1);
        }

        public OptionalDouble optionalDouble() {
            return OptionalDouble.of(1);
        }

        public List<String> list() {
            return List.of("x");
        }

        public ArrayList<String> arrayList() {
            return new ArrayList<>(List.of("x"));
        }

        public Collection<String> collection() {
            return List.of("x");
        }

        public Iterable<String> iterable() {
            return List.of("x");
        }

        public Set<String> set() {
            return Set.of("x");
        }

        public SortedSet<String> sortedSet() {
            return new TreeSet<>(Set.of("x"));
        }

        public Map<String, String> map() {
            return Map.of("x", "y");
        }

        public HashMap<String, String> hashMap() {
            return new HashMap<>(Map.of("x", "y"));
        }

        public SortedMap<String, String> sortedMap() {
            return new TreeMap<>(Map.of("x", "y"));
        }

        public NavigableMap<String, String> navigableMap() {
            return new TreeMap<>(Map.of("x", "y"));
        }

        public Queue<String> queue() {
            return new ArrayDeque<>(List.of("x"));
        }

        public Deque<String> deque() {
            return new ArrayDeque<>(List.of("x"));
        }

        public int[] ints() {
            return new int[] {1};
        }

        public String[] strings() {
            return new String[] {"x"};
        }

        public long[][] matrix() {
            return new long[][] {{1}};
        }

        public CompletableFuture<Optional<String>> future() {
            return new CompletableFuture<>();
        }

        public CompletionStage<List<String>> stage() {
            return new CompletableFuture<>();
        }

        public Future<String> plainFuture() {
            return new CompletableFuture<>();
        }

        public CompletableFuture<@Nullable Void> voidFuture() {
            return new CompletableFuture<>();
        }

        public Future<?> rawFuture() {
            return new CompletableFuture<>();
        }

        public <T> @Nullable T generic() {
            throw new AssertionError("The body ran");
        }
    }
}
