package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the library adds to an application with defaults, as docs/capacity.md says it. */
@Timeout(120)
class CostTests {

    private static final String NAME = "cost-of-" + ProcessHandle.current().pid();

    /** They add a connection to a pool or close one, and end after five seconds without work. */
    private static final Set<String> OF_THE_MOMENT =
            Set.of("syncguard-pool", "syncguard-engine-pool", "syncguard-listener-pool");

    private static final int CALLERS = 32;

    enum Store {
        POSTGRESQL(
                "PostgreSQL",
                2,
                13,
                Map.of("syncguard-pools", 1L, "syncguard-requests", 1L, "syncguard-sweeper", 1L),
                Map.of("syncguard-acquire-batch", 2L, "syncguard-release-batch", 2L)) {

            @Override
            ApplicationContextRunner application() {
                return Applications.on(DATABASE.url());
            }

            @Override
            void use(ApplicationContext application) {
                application.getBean(JdbcTemplate.class).queryForObject("SELECT 1", Integer.class);
            }

            @Override
            int connections(ApplicationContext application) {
                return DATABASE.jdbc()
                        .queryForObject(
                                "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?",
                                Integer.class,
                                "syncguard " + NAME);
            }
        },
        REDIS(
                "Redis",
                1,
                2,
                Map.of("lettuce-epollEventLoop", 2L, "lettuce-eventExecutorLoop", 2L, "lettuce-timer", 1L),
                Map.of()) {

            @Override
            ApplicationContextRunner application() {
                return Applications.withoutBoot()
                        .withConfiguration(SortedAutoConfigurations.of(
                                DataRedisAutoConfiguration.class, AopAutoConfiguration.class))
                        .withPropertyValues(
                                "spring.data.redis.url=" + RedisServer.url(),
                                "syncguard.redis.key-prefix=" + RedisServer.newPrefix() + ":");
            }

            @Override
            void use(ApplicationContext application) {
                application.getBean(StringRedisTemplate.class).hasKey("any");
            }

            @Override
            int connections(ApplicationContext application) {
                return (int) Objects.requireNonNull(application
                                .getBean(StringRedisTemplate.class)
                                .execute(RedisConnection::serverCommands)
                                .getClientList())
                        .stream()
                        .filter(client -> client.getName().equals("syncguard-" + NAME))
                        .count();
            }
        };

        private static final TestDatabase DATABASE = TestDatabase.withSchema();

        private final String label;
        private final int connectionsAtRest;
        private final int connectionsAtMost;
        private final Map<String, Long> threadsAtRest = new TreeMap<>(Map.of(
                "syncguard-waiters", 1L,
                "syncguard-watch", 1L,
                "syncguard-heartbeat", 1L,
                "syncguard-release", 1L,
                "syncguard-events", 1L,
                "syncguard-lost", 1L,
                "syncguard-lost-listener", 1L));
        private final Map<String, Long> threadsOfLoad;

        Store(
                String label,
                int connectionsAtRest,
                int connectionsAtMost,
                Map<String, Long> threadsOfStore,
                Map<String, Long> threadsOfLoad) {
            this.label = label;
            this.connectionsAtRest = connectionsAtRest;
            this.connectionsAtMost = connectionsAtMost;
            this.threadsAtRest.putAll(threadsOfStore);
            this.threadsOfLoad = threadsOfLoad;
        }

        abstract ApplicationContextRunner application();

        abstract void use(ApplicationContext application);

        /** Counts the connections of the library. */
        abstract int connections(ApplicationContext application);

        void run(boolean enabled, Consumer<ApplicationContext> work) {
            application()
                    .withPropertyValues("spring.application.name=" + NAME, "syncguard.enabled=" + enabled)
                    .run(application -> {
                        use(application);
                        work.accept(application);
                    });
        }
    }

    @Tag("verification")
    @ParameterizedTest
    @EnumSource
    void threads_and_connections_are_those_of_the_documentation(Store store) {
        // From now on there are the threads that the drivers have for all applications of the process.
        store.run(false, first -> {
            Set<Thread> beforePlain = threads();
            Map<String, Long> ofApplication = new TreeMap<>();
            store.run(false, plain -> ofApplication.putAll(madeSince(beforePlain)));
            awaitEnd(beforePlain);
            Set<Thread> before = threads();
            store.run(true, application -> {
                Map<String, Long> expected = new TreeMap<>(ofApplication);
                store.threadsAtRest.forEach((name, number) -> expected.merge(name, number, Long::sum));
                soon(() -> assertThat(madeSince(before)).isEqualTo(expected));
                soon(() -> assertThat(store.connections(application)).isEqualTo(store.connectionsAtRest));

                asStranger(() -> Applications.waitForALock(application));
                expected.put("syncguard-listener", 1L);
                soon(() -> assertThat(madeSince(before)).isEqualTo(expected));

                asStranger(() -> load(application));
                expected.putAll(store.threadsOfLoad);
                soon(() -> assertThat(madeSince(before)).isEqualTo(expected));
                assertThat(threads().stream().filter(thread -> !before.contains(thread)))
                        .filteredOn(thread -> thread.getName().startsWith("syncguard-"))
                        .as("threads with the class loader and the group of the start")
                        .allMatch(thread -> thread.getContextClassLoader()
                                        == Thread.currentThread().getContextClassLoader()
                                && thread.getThreadGroup()
                                        == Thread.currentThread().getThreadGroup());
                assertThat(store.connections(application))
                        .isBetween(store.connectionsAtRest + 1, store.connectionsAtMost);
            });
        });
        long atRest =
                store.threadsAtRest.values().stream().mapToLong(each -> each).sum();
        long ofLoad =
                store.threadsOfLoad.values().stream().mapToLong(each -> each).sum();
        assertThat(atRest + 1 + ofLoad).isLessThanOrEqualTo(16);
        assertThat(documentedCosts())
                .containsPattern("\\| " + store.label + " \\| " + store.connectionsAtRest + " \\| \\d \\| "
                        + store.connectionsAtMost + " \\| ")
                .contains("| " + store.label + " | " + atRest + " | " + (atRest + 1 + ofLoad) + " | ");
    }

    @Test
    void a_start_on_a_schema_that_is_there_sends_few_statements() {
        JdbcTemplate admin = Store.DATABASE.jdbc();
        admin.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        long ofApplication = statements(admin, false);

        assertThat(statements(admin, true) - ofApplication).isLessThanOrEqualTo(20);
    }

    @Tag("verification")
    @ParameterizedTest
    @EnumSource
    void the_heap_grows_by_less_than_two_megabytes(Store store) {
        // Classes, and what they keep for all applications.
        heapOf(store, true);

        long growth = heapOf(store, true) - heapOf(store, false);

        assertThat(growth).isLessThan(2L << 20);
    }

    private static long heapOf(Store store, boolean enabled) {
        long before = heap();
        long[] with = new long[1];
        store.run(enabled, application -> {
            if (enabled) {
                Applications.waitForALock(application);
            }
            with[0] = heap();
        });
        return with[0] - before;
    }

    private static long statements(JdbcTemplate admin, boolean enabled) {
        admin.queryForList("SELECT pg_stat_statements_reset()");
        long[] sent = new long[1];
        Store.POSTGRESQL.run(enabled, application -> {
            if (enabled) {
                soon(() -> assertThat(Store.POSTGRESQL.connections(application))
                        .isEqualTo(Store.POSTGRESQL.connectionsAtRest));
            }
            sent[0] = admin.queryForObject(
                    "SELECT sum(calls) FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid"
                            + " WHERE datname = current_database() AND query NOT LIKE '%pg_stat_%'"
                            // The connections of this test send it, too.
                            + " AND query NOT LIKE 'SET application_name%'",
                    Long.class);
        });
        return sent[0];
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Many callers acquire at once, and release at once. */
    private static void load(ApplicationContext application) {
        LockTemplate locks = application.getBean(LockTemplate.class);
        ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        CyclicBarrier together = new CyclicBarrier(CALLERS);
        CompletableFuture.allOf(IntStream.range(0, CALLERS)
                        .mapToObj(i -> CompletableFuture.runAsync(
                                () -> {
                                    await(together);
                                    locks.executeWithoutResult("order:" + i, lock -> await(together));
                                },
                                threads))
                        .toArray(CompletableFuture[]::new))
                .join();
        threads.shutdown();
        soon(() -> assertThat(threads.isTerminated()).isTrue());
    }

    /** On a thread of another application, such as a job of a container. */
    private static void asStranger(Runnable work) {
        FutureTask<Void> task = new FutureTask<>(work, null);
        Thread stranger = new Thread(new ThreadGroup("jobs"), task);
        stranger.setContextClassLoader(new ClassLoader(CostTests.class.getClassLoader()) {});
        stranger.start();
        try {
            task.get(1, TimeUnit.MINUTES);
        } catch (InterruptedException | ExecutionException | TimeoutException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void await(CyclicBarrier together) {
        try {
            together.await(1, TimeUnit.MINUTES);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void soon(ThrowingRunnable assertion) {
        Awaitility.await().pollInSameThread().atMost(Duration.ofSeconds(30)).untilAsserted(assertion);
    }

    private static void awaitEnd(Set<Thread> before) {
        soon(() -> assertThat(madeSince(before)).isEmpty());
    }

    /** How many there are of each kind. */
    private static Map<String, Long> madeSince(Set<Thread> before) {
        return threads().stream()
                .filter(thread -> !before.contains(thread))
                .map(thread -> thread.getName().replaceAll("-?\\d+", ""))
                .filter(name -> !OF_THE_MOMENT.contains(name))
                .collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet();
    }

    private static String documentedCosts() {
        try {
            return Files.readString(Path.of("../docs/capacity.md"));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
