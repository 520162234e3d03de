package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.VirtualThreadTaskExecutor;

/** A thousand virtual threads under locks: the JVM reports each that keeps its carrier while it waits. */
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "there are no virtual threads before JDK 21")
@Timeout(120)
class VirtualThreadsTests {

    private static final int CALLERS = 1000;
    private static final int KEYS = 50;
    private static final String PINNED = "jdk.VirtualThreadPinned";

    @TempDir
    private Path directory;

    static Stream<ApplicationContextRunner> applications() {
        return Stream.of(
                Applications.on(PostgresServer.newDatabaseUrl()),
                Applications.withoutBoot()
                        .withConfiguration(SortedAutoConfigurations.of(DataRedisAutoConfiguration.class))
                        .withPropertyValues(
                                "syncguard.backend=redis",
                                "syncguard.redis.key-prefix=" + RedisServer.newPrefix(),
                                "spring.data.redis.url=" + RedisServer.url()));
    }

    @ParameterizedTest
    @MethodSource("applications")
    void a_thousand_wait_and_work_without_keeping_their_carriers(ApplicationContextRunner runner) {
        runner.withPropertyValues("syncguard.wait-time=60s").run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            // Classes are loaded on a carrier.
            runAll(locks, 100);

            long[][] counts = new long[1][];
            List<RecordedEvent> pinned = pinnedDuring(() -> counts[0] = runAll(locks, CALLERS));

            assertThat(counts[0]).containsOnly(CALLERS / KEYS);
            assertThat(pinned).isEmpty();
        });
    }

    /** Otherwise the other test might see no event because there is never one. */
    @Test
    void a_thread_that_keeps_its_carrier_is_reported() {
        Applications.on(PostgresServer.newDatabaseUrl()).run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            LockManager manager = context.getBean(LockManager.class);
            LockHandle held = manager.acquire(LockRequest.of("order:42"));
            Initialiser.task = () -> locks.executeWithoutResult("order:42", lock -> {});

            // A thread that gets its answer at once does not wait, and is not reported.
            List<RecordedEvent> pinned = pinnedDuring(() -> {
                CompletableFuture<Void> caller =
                        CompletableFuture.runAsync(() -> Initialiser.run(), new VirtualThreadTaskExecutor("caller-"));
                await().until(() ->
                        manager.admin().status("order:42").orElseThrow().waiters() == 1);
                held.close();
                caller.join();
            });

            assertThat(pinned).isNotEmpty();
        });
    }

    /** Each caller counts under the lock of its key, without any other protection. */
    private static long[] runAll(LockTemplate locks, int callers) {
        long[] counts = new long[KEYS];
        VirtualThreadTaskExecutor threads = new VirtualThreadTaskExecutor("caller-");
        CompletableFuture.allOf(IntStream.range(0, callers)
                        .mapToObj(i -> CompletableFuture.runAsync(
                                () -> locks.executeWithoutResult(LockRequest.of("key:" + i % KEYS), lock -> {
                                    long before = counts[i % KEYS];
                                    Thread.yield();
                                    counts[i % KEYS] = before + 1;
                                }),
                                threads))
                        .toArray(CompletableFuture[]::new))
                .join();
        return counts;
    }

    /** The events with code of the library on the stack. */
    private List<RecordedEvent> pinnedDuring(Runnable work) throws IOException {
        Path file = directory.resolve("pinned.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(VirtualThreadsTests::isOurs)
                .toList();
    }

    private static boolean isOurs(RecordedEvent event) {
        return event.getEventType().getName().equals(PINNED)
                && event.getStackTrace().getFrames().stream()
                        .anyMatch(frame -> frame.getMethod().getType().getName().startsWith("io.syncguard.core."));
    }

    /** A thread that waits while it initialises a class keeps its carrier. */
    private static final class Initialiser {

        private static Runnable task = () -> {};

        static void run() {
            Body.touch();
        }

        private static final class Body {

            static {
                task.run();
            }

            static void touch() {}
        }
    }
}
