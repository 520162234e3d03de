package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import io.syncguard.testing.CapturedLog;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What runs instead of a method whose lock is refused. */
@Timeout(60)
class DistributedLockFallbackTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Prices.class);

    @Test
    void it_has_the_arguments_of_the_call() {
        runner.run(context -> {
            Prices prices = context.getBean(Prices.class);
            assertThat(prices.read("TEA")).isEqualTo("read TEA");

            application.takenBySomebodyElse("prices:TEA");

            assertThat(prices.read("TEA")).isEqualTo("stored TEA, locked by nobody");
        });
    }

    @Test
    void it_may_ask_for_the_refusal() {
        runner.run(context -> {
            application.takenBySomebodyElse("prices:TEA");

            assertThat(context.getBean(Prices.class).readAndExplain("TEA"))
                    .startsWith("TEA: Lock 'prices:TEA' is held by somebody else");
        });
    }

    @Test
    void it_is_logged_at_debug() {
        runner.run(context -> {
            application.takenBySomebodyElse("prices:TEA");
            try (CapturedLog log = new CapturedLog(Level.DEBUG)) {
                context.getBean(Prices.class).read("TEA");

                assertThat(log.messages())
                        .anyMatch(message -> message.startsWith("Called stored instead of Prices.read: Lock 'prices:"));
            }
        });
    }

    @Test
    void its_exception_is_that_of_the_call() {
        runner.run(context -> {
            application.takenBySomebodyElse("prices:TEA");

            assertThatThrownBy(() -> context.getBean(Prices.class).write("TEA"))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("no TEA");
        });
    }

    @Test
    void a_refusal_within_the_body_is_not_its_own() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(Prices.class).refusedWithin("TEA"))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessage("within"));
    }

    @Test
    void it_runs_when_the_locks_of_the_other_keys_have_been_released() {
        runner.run(context -> {
            application.takenBySomebodyElse("prices:b");

            assertThat(context.getBean(Prices.class).readAll(List.of("a", "b"))).isEqualTo("a is free");
        });
    }

    @Test
    void a_future_may_be_its_result() {
        runner.run(context -> {
            application.takenBySomebodyElse("prices:TEA");

            assertThat(context.getBean(Prices.class).later("TEA").get()).isEqualTo("later TEA");
        });
    }

    @ParameterizedTest
    @ValueSource(
            classes = {Missing.class, OtherParameters.class, OtherResult.class, OtherElement.class, Skipping.class})
    void a_mistake_fails_the_start(Class<?> mistaken) {
        application
                .with(mistaken)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockException.class)
                        .satisfies(failure -> assertThat(((LockException) failure).code())
                                .isEqualTo(LockErrorCode.INVALID_ARGUMENT)));
    }

    @Test
    void a_missing_one_is_named() {
        application
                .with(Missing.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("Missing.run, attribute 'fallback': Missing has no method"
                                + " 'none' with the parameters of this method"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                NamesItself.class,
                OverloadsItself.class,
                ImplementsItself.class,
                GenericItself.class,
                OnlyMethodOfClass.class
            })
    void one_that_is_the_locked_method_itself_fails_the_start(Class<?> mistaken) {
        application
                .with(mistaken)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                ".charge, attribute 'fallback': it names the method itself, which would"
                                        + " run without the lock"));
    }

    @Test
    void an_overload_may_ask_for_the_refusal_as_any_exception() {
        application.with(Overloads.class).run(context -> {
            Overloads overloads = context.getBean(Overloads.class);
            application.takenBySomebodyElse("pay");

            assertThat(overloads.asLockException("7")).isEqualTo("LockNotAcquiredException of 7");
            assertThat(overloads.asRuntimeException("7")).isEqualTo("LockNotAcquiredException of 7");
            assertThat(overloads.asException("7")).isEqualTo("LockNotAcquiredException of 7");
            assertThat(overloads.asThrowable("7")).isEqualTo("LockNotAcquiredException of 7");
        });
    }

    @Test
    void that_of_an_annotated_class_may_be_one_of_its_methods() {
        application.with(OfClass.class).run(context -> {
            application.takenBySomebodyElse("pay");

            assertThat(context.getBean(OfClass.class).charge("7")).isEqualTo("instead of 7");
        });
    }

    @Test
    void value_is_the_name() {
        application.with(Named.class).run(context -> {
            assertThat(context.getBean(Named.class).run()).isEqualTo("daily-report");
            assertThat(context.getBean(Named.class).both("7")).isEqualTo("daily-report:7");
        });
    }

    @Test
    void a_value_that_is_not_the_name_fails_the_start() {
        application
                .with(TwoNames.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("it is 'name', and its alias 'value' is 'value'"));
    }

    static class Prices {

        @DistributedLock(name = "prices", key = "#sku", fallback = "stored")
        public String read(String sku) {
            return "read " + sku;
        }

        private String stored(String sku) {
            return "stored " + sku + ", locked by "
                    + LockHandle.current().map(LockHandle::key).orElse("nobody");
        }

        @DistributedLock(name = "prices", key = "#sku", fallback = "explain")
        public String readAndExplain(String sku) {
            return "read " + sku;
        }

        String explain(String sku, LockNotAcquiredException refusal) {
            return sku + ": " + refusal.getMessage();
        }

        @DistributedLock(name = "prices", key = "#sku", fallback = "unwritten")
        public void write(String sku) throws IOException {}

        void unwritten(String sku) throws IOException {
            throw new IOException("no " + sku);
        }

        @DistributedLock(name = "prices", key = "#sku", fallback = "explain")
        public String refusedWithin(String sku) {
            throw new LockNotAcquiredException(sku, null, null, java.time.Duration.ZERO, "within");
        }

        @DistributedLock(name = "prices", key = "#skus", fallback = "free")
        public String readAll(List<String> skus) {
            return "read " + skus;
        }

        String free(List<String> skus) {
            return LockHandle.current().isPresent() ? "a is held" : "a is free";
        }

        @DistributedLock(name = "prices", key = "#sku", fallback = "doneLater")
        public CompletableFuture<String> later(String sku) {
            return CompletableFuture.completedFuture("read " + sku);
        }

        CompletableFuture<String> doneLater(String sku) {
            return CompletableFuture.completedFuture("later " + sku);
        }
    }

    static class Missing {

        @DistributedLock(name = "a", fallback = "none")
        public void run() {}
    }

    static class OtherParameters {

        @DistributedLock(name = "a", fallback = "other")
        public void run(String one) {}

        void other(int one) {}
    }

    static class OtherResult {

        @DistributedLock(name = "a", fallback = "other")
        public String run() {
            return "";
        }

        int other() {
            return 1;
        }
    }

    static class OtherElement {

        @DistributedLock(name = "a", fallback = "other")
        public Optional<String> run() {
            return Optional.empty();
        }

        Optional<Integer> other() {
            return Optional.empty();
        }
    }

    static class Skipping {

        @DistributedLock(name = "a", fallback = "other", onContention = OnContention.SKIP)
        public void run() {}

        void other() {}
    }

    static class Named {

        @DistributedLock("daily-report")
        public String run() {
            return LockHandle.current().orElseThrow().key();
        }

        @DistributedLock(value = "daily-report", name = "daily-report", key = "#id")
        public String both(String id) {
            return LockHandle.current().orElseThrow().key();
        }
    }

    static class TwoNames {

        @DistributedLock(value = "value", name = "name")
        public void run() {}
    }

    static class NamesItself {

        @DistributedLock(name = "pay", fallback = "charge")
        public void charge() {}
    }

    static class OverloadsItself {

        @DistributedLock(name = "pay", fallback = "charge")
        public String charge(String id) {
            return id;
        }

        String charge(String id, IOException refused) {
            return id + refused;
        }
    }

    interface Charging {

        @DistributedLock(name = "pay", fallback = "charge")
        String charge(String id);
    }

    static class ImplementsItself implements Charging {

        @Override
        public String charge(String id) {
            return id;
        }
    }

    interface GenericCharging<T> {

        @DistributedLock(name = "pay", fallback = "charge")
        String charge(T id);
    }

    static class GenericItself implements GenericCharging<String> {

        @Override
        public String charge(String id) {
            return id;
        }
    }

    @DistributedLock(name = "pay", fallback = "charge")
    static class OnlyMethodOfClass {

        public String charge(String id) {
            return id;
        }
    }

    @DistributedLock(name = "pay", fallback = "instead")
    static class OfClass {

        public String charge(String id) {
            return id;
        }

        public String instead(String id) {
            return "instead of " + id;
        }
    }

    static class Overloads {

        @DistributedLock(name = "pay", fallback = "asLockException")
        public String asLockException(String id) {
            return id;
        }

        String asLockException(String id, LockException refused) {
            return refused.getClass().getSimpleName() + " of " + id;
        }

        @DistributedLock(name = "pay", fallback = "asRuntimeException")
        public String asRuntimeException(String id) {
            return id;
        }

        String asRuntimeException(String id, RuntimeException refused) {
            return refused.getClass().getSimpleName() + " of " + id;
        }

        @DistributedLock(name = "pay", fallback = "asException")
        public String asException(String id) {
            return id;
        }

        String asException(String id, Exception refused) {
            return refused.getClass().getSimpleName() + " of " + id;
        }

        @DistributedLock(name = "pay", fallback = "asThrowable")
        public String asThrowable(String id) {
            return id;
        }

        String asThrowable(String id, Throwable refused) {
            return refused.getClass().getSimpleName() + " of " + id;
        }
    }
}
