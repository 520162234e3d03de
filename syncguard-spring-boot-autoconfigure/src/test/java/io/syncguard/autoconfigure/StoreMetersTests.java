package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The meters of each kind of store show what it does. */
class StoreMetersTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static final LockRequest ORDER = LockRequest.of("order:4711").meterName("orders");

    private final MeterRegistry registry = new SimpleMeterRegistry();

    @ParameterizedTest
    @EnumSource
    void requests_are_counted_and_timed_by_operation_and_error(Kind kind) {
        try (Store store = kind.open()) {
            run(store, locks -> {
                LockHandle lock = locks.acquire(ORDER);
                assertThat(lock.extend(Duration.ofSeconds(20))).isTrue();
                lock.release();
                assertThat(locks.isLocked(ORDER.key())).isFalse();
                for (String operation : new String[] {"acquire", "extend", "release", "look"}) {
                    assertThat(requests(kind, operation, "none").count())
                            .as(operation)
                            .isPositive();
                    assertThat(requests(kind, operation, "none").totalTime(TimeUnit.NANOSECONDS))
                            .as(operation)
                            .isPositive();
                }
                assertThat(failures("acquire")).isZero();

                store.fail();
                assertThatThrownBy(() -> locks.acquire(ORDER)).isInstanceOf(LockException.class);
                assertThatThrownBy(() -> locks.isLocked(ORDER.key())).isInstanceOf(LockException.class);
                assertThat(failures("acquire")).isPositive();
                assertThat(failures("look")).isPositive();
                store.recover();
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void wake_ups_heartbeats_releases_by_force_and_the_pool_are_shown(Kind kind) {
        try (Store store = kind.open()) {
            run(store, locks -> {
                assertThat(value("heartbeat.age")).isNaN();
                assertThat(value("overdue")).isZero();
                assertThat(registry.find("syncguard.store.connections").gauges().stream()
                                .map(gauge -> gauge.getId().getTag("state"))
                                .collect(Collectors.toSet()))
                        .isEqualTo(kind.states);

                LockHandle lock = locks.acquire(ORDER.ttl(Duration.ofSeconds(1)));
                CompletableFuture<LockHandle> waiting =
                        CompletableFuture.supplyAsync(() -> locks.acquire(ORDER.waitTime(LIMIT)));
                await().atMost(LIMIT).until(() -> value("wakeups") == 1);
                await().atMost(LIMIT).until(() -> value("heartbeat.age") >= 0);
                lock.release();
                assertThat(waiting.join().release()).isTrue();

                locks.acquire(ORDER);
                locks.admin().forceRelease(ORDER.key(), "the host is gone");
                assertThat(value("forced.releases")).isEqualTo(1);
            });
        }
    }

    private void run(Store store, Consumer<LockManager> test) {
        store.application()
                .withBean(MeterRegistry.class, () -> registry)
                .withPropertyValues("syncguard.shutdown-timeout=0s")
                .run(application -> test.accept(application.getBean(LockManager.class)));
    }

    private FunctionTimer requests(Kind kind, String operation, String error) {
        return registry.get("syncguard.store.requests")
                .tags("backend", kind.backend, "operation", operation, "error", error)
                .functionTimer();
    }

    private double failures(String operation) {
        return registry.get("syncguard.store.requests").tags("operation", operation).functionTimers().stream()
                .filter(timer -> !"none".equals(timer.getId().getTag("error")))
                .flatMapToDouble(timer -> DoubleStream.of(timer.count()))
                .sum();
    }

    private double value(String meter) {
        return registry.get("syncguard.store." + meter)
                .meter()
                .measure()
                .iterator()
                .next()
                .getValue();
    }

    private enum Kind {
        POSTGRES("postgres", true) {
            @Override
            Store open() {
                return Store.ofTables(TestDatabase.withSchema().url(), "syncguard_locks");
            }
        },
        MARIADB("jdbc", true) {
            @Override
            Store open() {
                return Store.ofTables(MariaDbServer.newDatabaseUrl(), "syncguard_leases");
            }
        },
        H2("jdbc", true) {
            @Override
            Store open() {
                return Store.ofTables("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "syncguard_leases");
            }
        },
        REDIS("redis", false) {
            @Override
            Store open() {
                return Store.ofRedis(new RedisProxy(RedisServer.url()));
            }
        };

        private final String backend;
        private final Set<String> states;

        Kind(String backend, boolean pooled) {
            this.backend = backend;
            this.states = pooled ? Set.of("active", "idle", "awaiting", "maximum") : Set.of();
        }

        abstract Store open();
    }

    /** A store of an application, which fails if the test wants it. */
    private record Store(ApplicationContextRunner application, Runnable failure, Runnable recovery, Runnable end)
            implements AutoCloseable {

        static Store ofTables(String url, String table) {
            JdbcTemplate jdbc = new JdbcTemplate(
                    url.startsWith("jdbc:h2:")
                            ? new DriverManagerDataSource(url, "sa", "")
                            : new DriverManagerDataSource(url));
            return new Store(
                    Applications.on(url),
                    () -> jdbc.execute("ALTER TABLE " + table + " RENAME TO away"),
                    () -> jdbc.execute("ALTER TABLE away RENAME TO " + table),
                    () -> {});
        }

        static Store ofRedis(RedisProxy proxy) {
            return new Store(
                    Applications.withoutBoot()
                            .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                            .withPropertyValues(
                                    "spring.data.redis.url=" + proxy.url(),
                                    "syncguard.backend=redis",
                                    "syncguard.redis.key-prefix=" + RedisServer.newPrefix() + ":"),
                    () -> {
                        proxy.moveTo(OwnRedis.freePort());
                        proxy.cut();
                    },
                    () -> proxy.moveTo(URI.create(RedisServer.url()).getPort()),
                    proxy::close);
        }

        void fail() {
            failure.run();
        }

        void recover() {
            recovery.run();
        }

        @Override
        public void close() {
            end.run();
        }
    }
}
