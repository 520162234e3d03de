package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many processes hold many locks, and many callers wait for one key. The requests are bounded, and each release wakes
 * one waiter. {@code syncguard.processes} sets the number of processes; each holds 500 locks and has ten waiters.
 */
@Tag("verification")
@ParameterizedClass
@EnumSource(names = {"POSTGRES", "REDIS"})
class ManyProcessesTests {

    private static final int PROCESSES = Integer.getInteger("syncguard.processes", 3);
    private static final int LOCKS = 500;
    private static final int WAITERS = 10;
    private static final String KEY = "hot";

    /** Longer than the period of the heartbeats, if there are many locks. */
    private static final int REST_SECONDS = PROCESSES < 20 ? 3 : 12;

    private final QueueStore store;
    private final CountingQueueServer server;
    private final LockEngine locks;
    private final List<ChildJvm> children;

    /** @param store one whose server counts */
    ManyProcessesTests(QueueStore store) {
        this.store = store;
        this.server = (CountingQueueServer) store.start();
        this.locks = QueueProcess.locks(server.url());
        this.children = Stream.generate(() -> ChildJvm.start(QueueProcess.class, server.url()))
                .limit(PROCESSES)
                .toList();
    }

    @AfterEach
    void end() {
        children.forEach(ChildJvm::close);
        locks.close();
        server.close();
    }

    @Test
    void requests_are_bounded_and_each_release_wakes_one_waiter() throws Exception {
        for (int i = 0; i < PROCESSES; i++) {
            assertThat(children.get(i).ask("hold p" + i + "- " + LOCKS)).isEqualTo("held");
        }
        LockHandle hot = locks.acquire(LockRequest.of(KEY));
        children.forEach(child -> child.ask("line-up " + KEY + " " + WAITERS));
        int waiters = PROCESSES * WAITERS;
        eventually().until(() -> server.waiters(KEY) == waiters);

        long before = server.requests();
        TimeUnit.SECONDS.sleep(REST_SECONDS);
        long atRest = server.requests() - before;

        long requestsBefore = server.requests();
        long wakeUpsBefore = server.wakeUps();
        long from = System.nanoTime();
        hot.release();
        eventually().until(() -> sum("streamed") == waiters);
        Duration took = Duration.ofNanos(System.nanoTime() - from);
        long requests = server.requests() - requestsBefore;
        long wakeUps = server.wakeUps() - wakeUpsBefore;

        System.out.printf(
                Locale.ROOT,
                "%s: %d processes, %d locks, %d waiters of one key: %d requests in %d s at rest; all waiters served in"
                        + " %d ms by %d requests and %d wake-ups%n",
                store,
                PROCESSES,
                PROCESSES * LOCKS,
                waiters,
                atRest,
                REST_SECONDS,
                took.toMillis(),
                requests,
                wakeUps);
        int perSecond = waiters + PROCESSES;
        assertThat(atRest)
                .as("at most one per second of each waiter and each process")
                .isLessThanOrEqualTo(REST_SECONDS * perSecond);
        assertThat(requests)
                .as("an acquire and a release of each waiter, and the same")
                .isLessThanOrEqualTo(2L * waiters + (1 + took.toSeconds()) * perSecond);
        assertThat(wakeUps).as("one for each release").isLessThanOrEqualTo(waiters + 1);
        assertThat(sum("alive")).as("still held").isEqualTo(PROCESSES * LOCKS);
        children.forEach(child -> child.ask("let-go"));
        eventually().until(() -> server.lockIds().isEmpty());
    }

    private int sum(String question) {
        return children.stream()
                .mapToInt(child -> Integer.parseInt(child.ask(question)))
                .sum();
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofMinutes(2));
    }
}
