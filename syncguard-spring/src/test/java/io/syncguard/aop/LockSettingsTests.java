package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockSettings;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.OnContention;
import io.syncguard.OnLost;
import io.syncguard.reactive.ReactiveLockTemplate;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.mock.env.MockEnvironment;
import reactor.core.publisher.Mono;

/** {@code syncguard.locks.<name>} beats annotations and code, which beat {@code syncguard.*}; each part on its own. */
@Timeout(60)
class LockSettingsTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private static final LockRequest WITH_HEARTBEAT = LockRequest.of("order", "1")
            .ttl(Duration.ofSeconds(20))
            .waitTime(Duration.ofSeconds(2))
            .onLost(OnLost.NOTIFY)
            .holdAtLeast(Duration.ofMillis(2))
            .holdAtMost(Duration.ofSeconds(40))
            .commitGuard(CommitGuard.OFF);

    /** What an annotation says that sets everything. */
    private static final LockRequest ANNOTATED = WITH_HEARTBEAT.noHeartbeat();

    static Stream<Object[]> settings() {
        return Stream.of(
                new Object[] {"ttl=21s", ANNOTATED.ttl(Duration.ofSeconds(21))},
                new Object[] {"wait-time=3s", ANNOTATED.waitTime(Duration.ofSeconds(3))},
                new Object[] {"heartbeat=true", WITH_HEARTBEAT},
                new Object[] {"heartbeat-interval=1s", ANNOTATED},
                new Object[] {"on-lost=interrupt", ANNOTATED.onLost(OnLost.INTERRUPT)},
                new Object[] {"hold-at-least=3ms", ANNOTATED.holdAtLeast(Duration.ofMillis(3))},
                new Object[] {"hold-at-most=41s", ANNOTATED.holdAtMost(Duration.ofSeconds(41))},
                new Object[] {"commit-guard=auto", ANNOTATED.commitGuard(CommitGuard.AUTO)});
    }

    @ParameterizedTest
    @MethodSource("settings")
    void a_setting_beats_annotation_and_code_and_leaves_what_else_they_say(String setting, LockRequest expected) {
        with(AllAttributes.class, "syncguard.ttl=11s", "syncguard.locks.order." + setting)
                .run(context -> {
                    assertThat(used(context)).isEqualTo(expected.waitExactly(expected.waitTime()));
                    assertThat(used(context, ANNOTATED)).isEqualTo(expected);
                });
    }

    /** An exclusive lock waits for all permits of its key: it must not become one of them. */
    @Test
    void permits_are_set_for_shared_locks_of_the_name_and_an_exclusive_one_stays_exclusive() {
        with(Limited.class, "syncguard.locks.order.permits=7").run(context -> {
            LockRequest code = LockRequest.of("order", "1");
            assertThat(used(context).permits()).isEqualTo(7);
            assertThat(used(context, code.permits(3)).permits()).isEqualTo(7);
            assertThat(used(context, code.shared()).permits()).isEqualTo(7);
            assertThat(used(context, code)).isEqualTo(code);
            assertThat(used(context, LockRequest.of("stock", "1").permits(3)).permits())
                    .isEqualTo(3);
        });
        with(Limited.class).run(context -> assertThat(used(context).permits()).isEqualTo(5));
    }

    @ParameterizedTest
    @CsvSource({
        "Plain, order",
        "Meta, order",
        "OfClass, order",
        "OfInterface, order",
        "Named, order",
        "Placeholder, order.v2",
        "Derived, LockSettingsTests.Derived.run",
    })
    void every_way_to_annotate_has_the_settings_of_its_name(String bean, String name) throws Exception {
        Class<?> type = Class.forName(LockSettingsTests.class.getName() + "$" + bean);
        with(type, "order.name=order.v2", "syncguard.locks[" + name + "].ttl=21s")
                .run(context -> assertThat(used(context).ttl()).isEqualTo(Duration.ofSeconds(21)));
    }

    @Test
    void the_server_has_the_lease_of_the_setting_and_the_key_of_the_name() {
        with(Nothing.class, "syncguard.locks.order.ttl=21s").run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            locks.acquire(LockRequest.of("order", "1"));
            locks.acquire(LockRequest.of("stock", "1"));

            assertThat(ttl(locks, "order:1")).isEqualTo(Duration.ofSeconds(21));
            assertThat(ttl(locks, "stock:1")).isEqualTo(Duration.ofSeconds(30));
            assertThatThrownBy(() -> application.takenBySomebodyElse("order:1"))
                    .isInstanceOf(LockNotAcquiredException.class);
        });
    }

    @ParameterizedTest
    @CsvSource({"skip, Plain, true", "throw, Skips, false", "skip, Skips, true", "throw, Plain, false"})
    void contention_is_answered_as_the_setting_says(String onContention, String bean, boolean skipped)
            throws Exception {
        Class<?> type = Class.forName(LockSettingsTests.class.getName() + "$" + bean);
        with(type, "syncguard.wait-time=10ms", "syncguard.locks.order.on-contention=" + onContention)
                .run(context -> {
                    application.takenBySomebodyElse("order:1");
                    Locked locked = (Locked) context.getBean(type);
                    if (skipped) {
                        assertThat(locked.run("1")).isNull();
                    } else {
                        assertThatThrownBy(() -> locked.run("1"))
                                .isInstanceOfSatisfying(
                                        LockNotAcquiredException.class,
                                        refusal -> assertThat(refusal.waited())
                                                .isGreaterThanOrEqualTo(Duration.ofMillis(10)));
                    }
                });
    }

    @Test
    void several_keys_share_the_wait_time_of_the_setting() {
        with(SeveralKeys.class, "syncguard.wait-time=1h", "syncguard.locks.order.wait-time=200ms")
                .run(context -> {
                    application.takenBySomebodyElse("order:2");
                    LockHandle first = application.takenBySomebodyElse("order:1");
                    Thread releases = new Thread(first::release);
                    releases.start();
                    long began = System.nanoTime();
                    assertThatThrownBy(() -> context.getBean(SeveralKeys.class).run(List.of("1", "2")))
                            .isInstanceOf(LockNotAcquiredException.class);
                    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(30));
                    releases.join();
                });
    }

    @Test
    void publishers_have_the_settings() {
        with(Publishes.class, "syncguard.locks.order.ttl=21s").run(context -> {
            assertThat(context.getBean(Publishes.class).run("1").block().ttl()).isEqualTo(Duration.ofSeconds(21));
            ReactiveLockTemplate template = new ReactiveLockTemplate(context.getBean(LockManager.class), Runnable::run);
            assertThat(template.mono(LockRequest.of("order", "1"), lock -> Mono.just(lock.request()))
                            .block()
                            .ttl())
                    .isEqualTo(Duration.ofSeconds(21));
        });
    }

    @Test
    void an_exact_wait_time_is_not_replaced() {
        with(Nothing.class, "syncguard.locks.order.wait-time=1h").run(context -> {
            application.takenBySomebodyElse("order:1");
            assertThatThrownBy(() -> context.getBean(LockManager.class)
                            .acquire(LockRequest.of("order", "1").waitExactly(Duration.ofMillis(10))))
                    .isInstanceOf(LockNotAcquiredException.class);
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "hold-at-most=1ms | syncguard.locks.order.hold-at-most",
                "hold-at-least=50s | syncguard.locks.order.hold-at-least",
            })
    void what_contradicts_the_annotation_fails_the_start_and_names_property_and_method(
            String setting, String property) {
        with(AllAttributes.class, "syncguard.locks.order." + setting)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockSetupException.class)
                        .message()
                        .startsWith(property)
                        .contains("AllAttributes.run"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Plain | heartbeat-interval=11s | syncguard.locks.order.heartbeat-interval",
                "HasFallback | on-contention=skip | syncguard.locks.order.on-contention",
                "Publishes | commit-guard=required | syncguard.locks.order.commit-guard",
            })
    void what_does_not_fit_the_method_fails_the_start(String bean, String setting, String property) throws Exception {
        Class<?> type = Class.forName(LockSettingsTests.class.getName() + "$" + bean);
        with(type, "syncguard.locks.order." + setting)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockSetupException.class)
                        .message()
                        .startsWith(property)
                        .contains(bean + ".run"));
    }

    @ParameterizedTest
    @CsvSource({"ttl=3s, syncguard.locks.order.ttl", "hold-at-most=1s, syncguard.locks.order.hold-at-most"})
    void what_contradicts_code_fails_its_request_and_names_the_property(String setting, String property) {
        LockRequest request = LockRequest.of("order", "1")
                .ttl(Duration.ofMinutes(1))
                .heartbeat(Duration.ofSeconds(10))
                .holdAtLeast(Duration.ofSeconds(2));
        with(Nothing.class, "syncguard.locks.order." + setting)
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(LockManager.class).acquire(request))
                        .isInstanceOf(LockSetupException.class)
                        .hasMessageStartingWith(property));
    }

    private ApplicationContextRunner with(Class<?> bean, String... properties) {
        ConfigurableEnvironment environment = new MockEnvironment();
        TestPropertyValues.of(properties).applyTo(environment);
        Binder binder = Binder.get(environment);
        CallLimits limits = new CallLimits(
                binder.bind("syncguard.wait-time", Duration.class).orElse(Duration.ofMillis(50)),
                100,
                binder.bind("syncguard.ttl", Duration.class).orElse(Duration.ofSeconds(30)),
                binder.bind("syncguard.locks", Bindable.mapOf(String.class, LockSettings.class))
                        .orElse(Map.of()));
        return application.with(bean).withBean(CallLimits.class, () -> limits).withPropertyValues(properties);
    }

    private static LockRequest used(ApplicationContext context) {
        return context.getBean(Locked.class).run("1");
    }

    private static LockRequest used(ApplicationContext context, LockRequest asked) {
        return context.getBean(LockTemplate.class).<LockRequest, RuntimeException>execute(asked, LockHandle::request);
    }

    private static Duration ttl(LockManager locks, String key) {
        return locks.admin()
                .lookup(key)
                .map(info -> Duration.between(info.acquiredAt(), info.expiresAt()))
                .orElseThrow();
    }

    static LockRequest current() {
        return LockHandle.current().orElseThrow().request();
    }

    interface Locked {
        LockRequest run(String id);
    }

    static class Nothing {}

    static class AllAttributes implements Locked {

        @Override
        @DistributedLock(
                name = "order",
                key = "#id",
                ttl = "20s",
                waitTime = "2s",
                heartbeat = false,
                onLost = OnLost.NOTIFY,
                holdAtLeast = "2ms",
                holdAtMost = "40s",
                commitGuard = CommitGuard.OFF)
        public LockRequest run(String id) {
            return current();
        }
    }

    static class Plain implements Locked {

        @Override
        @DistributedLock(name = "order", key = "#id")
        public LockRequest run(String id) {
            return current();
        }
    }

    static class Limited implements Locked {

        @Override
        @DistributedLock(name = "order", key = "#id", permits = "5")
        public LockRequest run(String id) {
            return current();
        }
    }

    static class Skips implements Locked {

        @Override
        @DistributedLock(name = "order", key = "#id", onContention = OnContention.SKIP)
        public LockRequest run(String id) {
            return current();
        }
    }

    static class HasFallback implements Locked {

        @Override
        @DistributedLock(name = "order", key = "#id", fallback = "other")
        public LockRequest run(String id) {
            return current();
        }

        LockRequest other(String id) {
            return current();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(name = "order", ttl = "20s")
    @interface OrderLock {}

    static class Meta implements Locked {

        @Override
        @OrderLock
        public LockRequest run(String id) {
            return current();
        }
    }

    @DistributedLock(name = "order", key = "#id")
    static class OfClass implements Locked {

        @Override
        public LockRequest run(String id) {
            return current();
        }
    }

    interface Annotated extends Locked {

        @Override
        @DistributedLock(name = "order", key = "#p0")
        LockRequest run(String id);
    }

    static class OfInterface implements Annotated {

        @Override
        public LockRequest run(String id) {
            return current();
        }
    }

    static class Named implements Locked {

        @Override
        @DistributedLock("order")
        public LockRequest run(String id) {
            return current();
        }
    }

    static class Placeholder implements Locked {

        @Override
        @DistributedLock(name = "${order.name}", key = "#id")
        public LockRequest run(String id) {
            return current();
        }
    }

    static class Derived implements Locked {

        @Override
        @DistributedLock(key = "#id")
        public LockRequest run(String id) {
            return current();
        }
    }

    static class SeveralKeys {

        @DistributedLock(name = "order", key = "#ids")
        public void run(List<String> ids) {}
    }

    static class Publishes {

        @DistributedLock(name = "order", key = "#id")
        public Mono<LockRequest> run(String id) {
            return Mono.just(current());
        }
    }
}
