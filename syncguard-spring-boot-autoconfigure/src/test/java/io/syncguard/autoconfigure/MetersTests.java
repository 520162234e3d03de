package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnContention;
import io.syncguard.core.StoreOperation;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.micrometer.LockMeters;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

class MetersTests {

    private static final LockRequest ORDER = LockRequest.of("order:4711").meterName("orders");

    private static TestDatabase database;

    @BeforeAll
    static void makeDatabase() {
        database = TestDatabase.withSchema();
    }

    @AfterEach
    void forgetLocks() {
        database.jdbc().execute("TRUNCATE syncguard_locks");
    }

    @Test
    void all_meters_have_the_tags_name_mode_and_backend_and_some_an_outcome() {
        runner().run(application -> {
            lockOnce(application);

            assertThat(meters(application).stream()
                            .filter(meter -> meter.getId().getName().startsWith("syncguard.lock."))
                            .map(meter -> meter.getId().getName() + " "
                                    + meter.getId().getType().name().toLowerCase(Locale.ROOT) + " "
                                    + meter.getId().getTags().stream()
                                            .map(tag -> tag.getKey() + "=" + tag.getValue())
                                            .sorted()
                                            .collect(Collectors.joining(" "))))
                    .containsExactlyInAnyOrder(
                            "syncguard.lock.acquire timer backend=postgres error=none mode=exclusive name=orders"
                                    + " outcome=acquired",
                            "syncguard.lock.acquire timer backend=postgres error=none mode=exclusive name=orders"
                                    + " outcome=refused",
                            "syncguard.lock.held timer backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.holding long_task_timer backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.active gauge backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.leaked gauge backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.waiting gauge backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.fence gauge backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.queueing long_task_timer backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.last.grant gauge backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.last.end gauge backend=postgres mode=exclusive name=orders",
                            "syncguard.lock.lost counter backend=postgres mode=exclusive name=orders reason=expired",
                            "syncguard.lock.lost counter backend=postgres mode=exclusive name=orders"
                                    + " reason=hold_at_most",
                            "syncguard.lock.lost counter backend=postgres mode=exclusive name=orders reason=not_found",
                            "syncguard.lock.lost counter backend=postgres mode=exclusive name=orders"
                                    + " reason=released_by_force",
                            "syncguard.lock.lost counter backend=postgres mode=exclusive name=orders reason=shutdown",
                            "syncguard.lock.extend counter backend=postgres error=none mode=exclusive name=orders"
                                    + " outcome=extended",
                            "syncguard.lock.release counter backend=postgres error=none mode=exclusive name=orders"
                                    + " outcome=released");
            assertThat(meters(application))
                    .allSatisfy(
                            meter -> assertThat(meter.getId().getDescription()).isNotBlank());
        });
    }

    @Test
    void no_name_of_a_meter_begins_with_that_of_another() {
        runner().run(application -> {
            lockOnce(application);
            application.getBean(LeaderElection.class).join("scheduler");
            await().atMost(Duration.ofSeconds(5)).until(() -> names(application).contains("syncguard.leader.active"));

            Set<String> names = names(application);
            assertThat(names).allSatisfy(name -> assertThat(names).noneMatch(other -> other.startsWith(name + ".")));
        });
    }

    @Test
    void a_lock_is_reported_as_forgotten_after_the_threshold_and_until_its_release() {
        runner().withPropertyValues("syncguard.leak-detection-threshold=10ms").run(application -> {
            LockHandle forgotten = application.getBean(LockManager.class).acquire(ORDER);
            await().atMost(Duration.ofSeconds(10)).until(() -> value(application, "leaked") == 1);

            forgotten.release();
            assertThat(value(application, "leaked")).isZero();
        });
    }

    @Test
    void a_lock_is_counted_and_timed_from_its_grant_to_its_release() {
        runner().run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                assertThat(value(application, "active")).isEqualTo(1);
                assertThat(lock.extend(Duration.ofSeconds(10))).isTrue();
                return lock;
            });

            assertThat(value(application, "active")).isZero();
            assertThat(value(application, "acquire", "outcome", "acquired")).isEqualTo(1);
            assertThat(value(application, "extend", "outcome", "extended")).isEqualTo(1);
            assertThat(value(application, "release", "outcome", "released")).isEqualTo(1);
            assertThat(value(application, "held")).isEqualTo(1);
            assertThat(registry(application).get("syncguard.lock.held").timer().totalTime(TimeUnit.NANOSECONDS))
                    .isPositive();
        });
    }

    @Test
    void annotated_names_have_meters_at_zero_from_the_start_also_of_lazy_beans() {
        runner().withUserConfiguration(Orders.class, LazyJobs.class).run(application -> {
            assertThat(application.getBeanFactory().containsSingleton("jobs")).isFalse();

            assertThat(losses(application, "submit", "exclusive"))
                    .containsExactlyInAnyOrder("expired", "hold_at_most", "not_found", "released_by_force", "shutdown");
            assertThat(losses(application, "archive", "exclusive")).hasSize(5);
            assertThat(losses(application, "MetersTests.Order.cancel", "exclusive"))
                    .hasSize(5);
            assertThat(losses(application, "catalogue", "shared")).hasSize(5);
            assertThat(losses(application, "partner", "shared")).hasSize(5);
            assertThat(value(application, "permit.limit", "name", "partner")).isEqualTo(5);
            assertThat(losses(application, "nightly", "exclusive")).hasSize(5);
            assertThat(registry(application).get("syncguard.lock.lost").counters())
                    .allSatisfy(counter -> assertThat(counter.count()).isZero());
        });
    }

    @Test
    void names_of_settings_of_the_registry_and_of_elections_have_meters_at_zero_from_the_start() {
        Applications.on(database.url()).run(other -> {
            LeaderMember leader = other.getBean(LeaderElection.class).join("scheduler");
            await().atMost(Duration.ofSeconds(5)).until(leader::isLeader);
            runner().withPropertyValues(
                            "syncguard.locks.imports.ttl=20s",
                            "syncguard.locks.partner.permits=4",
                            "syncguard.integration.enabled=true",
                            "syncguard.leader.elections.scheduler.ttl=20s")
                    .run(application -> {
                        assertThat(losses(application, "imports", "exclusive")).hasSize(5);
                        assertThat(losses(application, "partner", "shared")).hasSize(5);
                        assertThat(value(application, "permit.limit", "name", "partner"))
                                .isEqualTo(4);
                        assertThat(losses(application, "integration", "exclusive"))
                                .hasSize(5);
                        await().atMost(Duration.ofSeconds(5))
                                .until(() -> losses(application, "leader:scheduler", "exclusive")
                                                .size()
                                        == 5);
                    });
            leader.leave();
        });
    }

    @Test
    void the_reason_of_a_loss_is_a_tag_so_that_a_release_by_an_operator_is_told_apart() {
        runner().run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            locks.acquire(ORDER);
            locks.admin().forceRelease(ORDER.key(), "the host is gone");

            await().atMost(Duration.ofSeconds(5))
                    .until(() -> value(application, "lost", "reason", "released_by_force") == 1);
            assertThat(value(application, "lost", "reason", "not_found")).isZero();
            assertThat(value(application, "lost", "reason", "expired")).isZero();
        });
    }

    private static List<String> losses(ApplicationContext application, String name, String mode) {
        return registry(application)
                .find("syncguard.lock.lost")
                .tags("name", name, "mode", mode, "backend", "postgres")
                .counters()
                .stream()
                .map(counter -> String.valueOf(counter.getId().getTag("reason")))
                .toList();
    }

    @Test
    void a_nested_call_is_not_counted() {
        runner().run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            locks.execute(ORDER, outer -> locks.execute(ORDER, inner -> inner.isHeld()));

            assertThat(value(application, "acquire", "outcome", "acquired")).isEqualTo(1);
            assertThat(value(application, "release", "outcome", "released")).isEqualTo(1);
        });
    }

    @Test
    void a_refusal_is_counted_and_a_waiting_caller_is_seen() {
        runner().run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle inTheWay = locks.acquire(ORDER);
            assertThat(locks.tryAcquire(ORDER)).isNull();
            assertThat(value(application, "acquire", "outcome", "refused")).isEqualTo(1);
            assertThat(value(application, "waiting")).isZero();

            CompletableFuture<LockHandle> waiting =
                    CompletableFuture.supplyAsync(() -> locks.acquire(ORDER.waitTime(Duration.ofSeconds(20))));
            await().atMost(Duration.ofSeconds(5)).until(() -> value(application, "waiting") == 1);
            assertThat(inTheWay.release()).isTrue();

            assertThat(waiting).succeedsWithin(Duration.ofSeconds(5));
            assertThat(waiting.join().release()).isTrue();
            assertThat(value(application, "waiting")).isZero();
            assertThat(value(application, "active")).isZero();
            assertThat(value(application, "acquire", "outcome", "acquired")).isEqualTo(2);
        });
    }

    /** The key in front of the taken one is granted while the call waits, and released again. */
    @Test
    void several_keys_count_for_each_grant_and_once_for_a_refusal() {
        runner().run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            List<LockRequest> both = List.of(ORDER, ORDER.key("order:4712"));
            locks.acquire(both).close();
            assertThat(value(application, "acquire", "outcome", "acquired")).isEqualTo(2);
            assertThat(value(application, "release", "outcome", "released")).isEqualTo(2);

            locks.acquire(both.get(1));
            assertThatThrownBy(() -> locks.acquire(both.stream()
                            .map(each -> each.waitTime(Duration.ofSeconds(1)))
                            .toList()))
                    .isInstanceOf(LockNotAcquiredException.class);
            assertThat(value(application, "acquire", "outcome", "refused")).isEqualTo(1);
            assertThat(value(application, "acquire", "outcome", "acquired")).isEqualTo(4);
            assertThat(value(application, "release", "outcome", "released")).isEqualTo(3);
        });
    }

    @Test
    void a_run_that_is_left_out_is_counted_as_refused() {
        runner().withUserConfiguration(Orders.class).run(application -> {
            LockHandle inTheWay = application.getBean(LockManager.class).acquire(LockRequest.of("archive"));
            Order order = application.getBean(Order.class);

            assertThat(order.archiveAll()).isFalse();
            assertThat(order.archiveAll()).isFalse();
            inTheWay.release();
            assertThat(order.archiveAll()).isTrue();

            assertThat(value(application, "acquire", "outcome", "refused", "name", "archive"))
                    .isEqualTo(2);
            assertThat(value(application, "acquire", "outcome", "acquired", "name", "archive"))
                    .isEqualTo(1);
        });
    }

    @Test
    void a_lost_lock_is_counted_and_not_active_any_more() {
        runner().run(application -> {
            LockHandle lock = application.getBean(LockManager.class).acquire(ORDER.ttl(Duration.ofMillis(600)));
            assertThat(value(application, "active")).isEqualTo(1);
            database.jdbc().execute("TRUNCATE syncguard_locks");

            await().atMost(Duration.ofSeconds(5)).until(() -> lost(application) == 1);
            await().atMost(Duration.ofSeconds(5)).until(() -> value(application, "active") == 0);
            assertThat(lock.release()).isFalse();
            assertThat(lost(application)).isEqualTo(1);
            assertThat(value(application, "active")).isZero();
            assertThat(value(application, "release", "outcome", "released")).isZero();
        });
    }

    /** How many locks were lost, for whatever reason. */
    private static double lost(ApplicationContext application) {
        return registry(application).get("syncguard.lock.lost").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void a_failing_server_is_counted() {
        runner().run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER);
            database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");
            try {
                assertThatThrownBy(() -> locks.acquire(ORDER.key("order:4712"))).isInstanceOf(LockException.class);
                assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(20))).isInstanceOf(LockException.class);
                assertThat(lock.release()).isTrue();
            } finally {
                database.jdbc().execute("ALTER TABLE away RENAME TO syncguard_locks");
            }

            assertThat(value(application, "acquire", "outcome", "failed", "error", "schema_missing"))
                    .isEqualTo(1);
            assertThat(value(application, "extend", "outcome", "failed", "error", "schema_missing"))
                    .isEqualTo(1);
            assertThat(value(application, "release", "outcome", "failed", "error", "schema_missing"))
                    .isEqualTo(1);
            assertThat(value(application, "active")).isZero();
        });
    }

    @Test
    void requests_to_the_store_are_counted_and_timed_by_operation_and_error_which_exist_at_zero() {
        runner().run(application -> {
            assertThat(registry(application).get("syncguard.store.requests").functionTimers())
                    .hasSize(StoreOperation.values().length * 9)
                    .extracting(timer -> timer.getId().getTag("error"))
                    .contains("none", "network_timeout", "service_unavailable", "schema_missing", "rate_limited");
            assertThat(requests(application, "release", "none").count()).isZero();

            lockOnce(application);
            assertThat(requests(application, "acquire", "none").count()).isEqualTo(1);
            assertThat(requests(application, "release", "none").count()).isEqualTo(1);
            assertThat(requests(application, "release", "none").totalTime(TimeUnit.NANOSECONDS))
                    .isPositive();

            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER);
            database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO away");
            try {
                assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(20))).isInstanceOf(LockException.class);
                assertThatThrownBy(() -> locks.isLocked("order:4712")).isInstanceOf(LockException.class);
            } finally {
                database.jdbc().execute("ALTER TABLE away RENAME TO syncguard_locks");
            }
            assertThat(requests(application, "extend", "schema_missing").count())
                    .isEqualTo(1);
            assertThat(requests(application, "look", "schema_missing").count()).isEqualTo(1);
        });
    }

    @Test
    void the_state_of_the_store_is_shown_without_asking_it() {
        runner().run(application -> {
            assertThat(store(application, "wakeups")).isNaN();
            assertThat(store(application, "heartbeat.age")).isNaN();
            assertThat(store(application, "overdue")).isZero();
            assertThat(store(application, "connections", "state", "maximum")).isPositive();
            assertThat(store(application, "connections", "state", "awaiting")).isZero();

            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(ORDER.ttl(Duration.ofSeconds(1)));
            CompletableFuture<LockHandle> waiting =
                    CompletableFuture.supplyAsync(() -> locks.acquire(ORDER.waitTime(Duration.ofSeconds(20))));
            await().atMost(Duration.ofSeconds(5)).until(() -> store(application, "wakeups") == 1);
            await().atMost(Duration.ofSeconds(5)).until(() -> store(application, "heartbeat.age") >= 0);
            lock.release();
            assertThat(waiting.join().release()).isTrue();

            locks.acquire(ORDER);
            locks.admin().forceRelease(ORDER.key(), "the host is gone");
            assertThat(registry(application)
                            .get("syncguard.store.forced.releases")
                            .functionCounter()
                            .count())
                    .isEqualTo(1);
        });
    }

    private static FunctionTimer requests(ApplicationContext application, String operation, String error) {
        return registry(application)
                .get("syncguard.store.requests")
                .tags("backend", "postgres", "operation", operation, "error", error)
                .functionTimer();
    }

    private static double store(ApplicationContext application, String meter, String... tags) {
        return registry(application)
                .get("syncguard.store." + meter)
                .tags(tags)
                .meter()
                .measure()
                .iterator()
                .next()
                .getValue();
    }

    @Test
    void no_tag_has_a_key_or_a_lock_id() {
        runner().withUserConfiguration(Orders.class).run(application -> {
            String lockId = application
                    .getBean(LockTemplate.class)
                    .execute(LockRequest.of("order:4711"), lock -> lock.lockId());
            application.getBean(Order.class).submit("4711");
            application.getBean(Order.class).cancel("4711");

            List<String> tags = meters(application).stream()
                    .flatMap(meter -> meter.getId().getTags().stream())
                    .map(Tag::getValue)
                    .distinct()
                    .toList();
            assertThat(tags).contains("submit", LockRequest.UNNAMED);
            assertThat(tags).noneMatch(tag -> tag.contains("4711") || tag.contains(lockId));
        });
    }

    @Test
    void without_a_registry_there_are_no_meters_and_locks_work() {
        Applications.on(database.url()).run(application -> {
            assertThat(application).hasNotFailed().doesNotHaveBean(LockMeters.class);
            lockOnce(application);
        });
    }

    @Test
    void without_micrometer_locks_work() {
        Applications.on(database.url())
                .withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    lockOnce(application);
                });
    }

    private static void lockOnce(ApplicationContext application) {
        application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
    }

    private static double value(ApplicationContext application, String meter, String... tags) {
        return registry(application)
                .get("syncguard.lock." + meter)
                .tags(tags)
                .meter()
                .measure()
                .iterator()
                .next()
                .getValue();
    }

    private static List<Meter> meters(ApplicationContext application) {
        return registry(application).getMeters().stream()
                .filter(meter -> meter.getId().getName().startsWith("syncguard."))
                .toList();
    }

    private static Set<String> names(ApplicationContext application) {
        return meters(application).stream()
                .map(meter -> meter.getId().getName())
                .collect(Collectors.toSet());
    }

    private static MeterRegistry registry(ApplicationContext application) {
        return application.getBean(MeterRegistry.class);
    }

    private static ApplicationContextRunner runner() {
        return Applications.on(database.url())
                .withPropertyValues("syncguard.shutdown-timeout=100ms")
                .withConfiguration(SortedAutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class Orders {

        @Bean
        Order order() {
            return new Order();
        }
    }

    static class Order {

        @DistributedLock(name = "submit", key = "#id")
        public void submit(String id) {}

        @DistributedLock(name = "archive", onContention = OnContention.SKIP)
        public boolean archiveAll() {
            return true;
        }

        @DistributedLock(key = "'cancel:' + #id")
        public void cancel(String id) {}

        @DistributedLock(name = "catalogue", mode = LockMode.SHARED)
        public void read() {}

        @DistributedLock(name = "partner", permits = "5")
        public void call() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyJobs {

        @Bean
        @Lazy
        Jobs jobs() {
            return new Jobs();
        }
    }

    static class Jobs {

        @DistributedLock(name = "nightly")
        public void run() {}
    }
}
