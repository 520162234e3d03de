package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One queue for several processes: the first to arrive is granted first, neighbouring readers enter together, and no
 * waiter starves.
 */
@ParameterizedClass
@MethodSource("io.syncguard.verification.queue.QueueStore#ofBuild")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueueAcrossProcessesTests {

    private static final int PROCESSES = 3;

    /** The number of callers of a stream in each of two processes. */
    private static final int THREADS = 4;

    private static final Duration BODY = Duration.ofMillis(20);

    /** Enough time for a busy machine. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private final List<ChildJvm> children = new ArrayList<>();

    @Parameter
    private QueueStore store;

    private QueueServer server;
    private LockEngine locks;

    @BeforeParameterizedClassInvocation
    void start() {
        server = store.start();
        children.clear();
        locks = QueueProcess.locks(server.url());
        for (int i = 0; i < PROCESSES; i++) {
            children.add(ChildJvm.start(QueueProcess.class, server.url()));
        }
    }

    @AfterParameterizedClassInvocation
    void end() {
        children.forEach(ChildJvm::close);
        locks.close();
        server.close();
    }

    @Test
    void who_came_first_is_granted_first_and_neighbouring_readers_enter_together() {
        LockHandle first = locks.acquire(LockRequest.of("order:42"));
        List<String> modes = List.of(
                "exclusive", "shared", "shared", "exclusive", "shared", "exclusive", "exclusive", "shared", "shared");
        for (int i = 0; i < modes.size(); i++) {
            child(i).ask("queue " + i + " order:42 " + modes.get(i));
            awaitWaiters("order:42", i + 1);
        }

        first.release();

        Map<String, Long> fences = new HashMap<>();
        for (Set<String> together : List.of(
                Set.of("0"), Set.of("1", "2"), Set.of("3"), Set.of("4"), Set.of("5"), Set.of("6"), Set.of("7", "8"))) {
            long last = fences.values().stream().mapToLong(fence -> fence).max().orElse(0);
            eventually().untilAsserted(() -> assertThat(held().keySet()).isEqualTo(together));
            Map<String, Long> held = held();
            assertThat(held.values()).as("fences of " + together).allMatch(fence -> fence > last);
            fences.putAll(held);
            // If several readers hold it, the waiters behind them have to wait for the last release.
            together.stream()
                    .sorted()
                    .forEach(name -> child(Integer.parseInt(name)).ask("release " + name));
        }
        assertThat(fences).hasSize(modes.size());
        assertThat(held()).isEmpty();
    }

    @Test
    void a_try_of_a_reader_yields_to_a_writer_who_waits_in_another_process() {
        LockHandle reader = locks.acquire(LockRequest.of("order:43").shared());
        assertThat(child(1).ask("try order:43 shared")).isEqualTo("granted");
        child(0).ask("queue writer order:43 exclusive");
        awaitWaiters("order:43", 1);

        assertThat(child(1).ask("try order:43 shared")).isEqualTo("refused");

        reader.release();
        eventually().until(() -> child(0).ask("held").startsWith("writer="));
        child(0).ask("release writer");
        assertThat(child(1).ask("try order:43 shared")).isEqualTo("granted");
    }

    @Tag("verification")
    @Test
    void a_writer_does_not_starve_under_a_constant_stream_of_readers() {
        assertThat(longestWait("prices", "shared", LockRequest.of("prices")))
                .as("the longest wait of a writer")
                .isLessThan(allInFront());
    }

    @Tag("verification")
    @Test
    void a_reader_does_not_starve_under_a_constant_stream_of_writers() {
        assertThat(longestWait("stock", "exclusive", LockRequest.of("stock").shared()))
                .as("the longest wait of a reader")
                .isLessThan(allInFront());
    }

    /** The time in which all callers of the stream can hold the lock once, one after the other. */
    private static Duration allInFront() {
        return BODY.multipliedBy(2 * THREADS).plus(SLACK);
    }

    private Duration longestWait(String key, String mode, LockRequest minority) {
        List<ChildJvm> streaming = children.subList(0, 2);
        streaming.forEach(child -> child.ask("stream " + key + " " + mode + " " + THREADS + " " + BODY.toMillis()));
        Duration longest = Duration.ZERO;
        for (int i = 0; i < 8; i++) {
            int before = streamed(streaming);
            eventually().until(() -> streamed(streaming) > before + THREADS);
            long began = System.nanoTime();
            locks.acquire(minority.waitTime(Duration.ofMinutes(1))).release();
            Duration wait = Duration.ofNanos(System.nanoTime() - began);
            longest = wait.compareTo(longest) > 0 ? wait : longest;
        }
        int grants = streamed(streaming);
        streaming.forEach(child -> child.ask("end"));
        System.out.println("longest wait of one " + minority.mode() + " among " + grants + " " + mode + " grants of "
                + BODY.toMillis() + " ms in " + 2 * THREADS + " threads: " + longest.toMillis() + " ms");
        return longest;
    }

    private static int streamed(List<ChildJvm> streaming) {
        return streaming.stream()
                .mapToInt(child -> Integer.parseInt(child.ask("streamed")))
                .sum();
    }

    private ChildJvm child(int number) {
        return children.get(number % PROCESSES);
    }

    private void awaitWaiters(String key, int count) {
        eventually().until(() -> server.waiters(key) == count);
    }

    /** The holders in all processes, with their fences. */
    private Map<String, Long> held() {
        return IntStream.range(0, PROCESSES)
                .mapToObj(i -> child(i).ask("held"))
                .flatMap(answer -> Arrays.stream(answer.split(" ")))
                .filter(grant -> !grant.isEmpty())
                .map(grant -> grant.split("="))
                .collect(Collectors.toMap(grant -> grant[0], grant -> Long.valueOf(grant[1])));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }
}
