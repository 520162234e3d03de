package io.syncguard.verification.permits;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.ChildJvm;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.permits.PermitProcess.Work;
import io.syncguard.verification.queue.QueueServer;
import io.syncguard.verification.queue.QueueStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Processes that use fifty permits between them are killed one after the other, at a random point of their calls. All
 * fifty are in use again one ttl and the tolerance later, and never more.
 *
 * <p>{@code syncguard.permits.kills} sets the number of kills, {@code syncguard.permits.tolerance} the milliseconds
 * beyond the promise, for what else the machine does.
 */
@Tag("verification")
@ParameterizedClass
@EnumSource
class PermitKillsTests {

    private static final int KILLS = Integer.getInteger("syncguard.permits.kills", 4);
    private static final Duration TOLERANCE =
            Duration.ofMillis(Integer.getInteger("syncguard.permits.tolerance", 20_000));

    /** One ttl, the tolerance of a lease, and half a second. */
    private static final Duration PROMISED = PermitProcess.TTL.plusMillis(1500);

    private static final String KEY = "partner";
    private static final int PERMITS = 50;
    private static final int PROCESSES = 4;
    private static final List<String> BATCHING = List.of("auto", "off", "always", "auto");

    /** Three processes have more callers than there are permits. */
    private static final Work WORK = new Work(KEY, PERMITS, PERMITS, 0, 20, 60);

    private static final int KILLS_OF_A_REPORT = 50;

    /** A process may take so long for its start and its first work. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final long MOST_WORK_NANOS = 400_000_000L;

    private final Random random =
            new Random(StressSettings.fromSystemProperties().seed());
    private final PlaceCounter counter = new PlaceCounter();
    private final List<ChildJvm> processes = new ArrayList<>();
    private final QueueStore store;
    private final QueueServer server;

    PermitKillsTests(QueueStore store) {
        this.store = store;
        this.server = store.start();
    }

    @AfterEach
    void end() {
        processes.forEach(ChildJvm::close);
        counter.close();
        server.close();
    }

    @Test
    void the_permits_of_a_dead_process_are_back_one_ttl_and_the_tolerance_later() throws Exception {
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(start(i));
        }
        processes.forEach(process -> process.ask(WORK.command(), PATIENCE.toSeconds()));
        List<Long> took = new ArrayList<>();
        for (int i = 0; i < KILLS; i++) {
            LockSupport.parkNanos(random.nextLong(MOST_WORK_NANOS));
            took.add(killOne(random.nextInt(PROCESSES)));
            if (took.size() % KILLS_OF_A_REPORT == 0) {
                report(took);
            }
        }
        processes.forEach(process -> process.ask(PermitProcess.END));
        List<String> failures = processes.stream()
                .map(process -> process.ask(PermitProcess.FAILURES))
                .toList();

        report(took);
        assertThat(counter.violations()).isEmpty();
        assertThat(counter.most(KEY)).isEqualTo(PERMITS);
        assertThat(failures).containsOnly("[]");
        assertThat(Duration.ofMillis(Collections.max(took))).isLessThan(PROMISED.plus(TOLERANCE));
        try (LockEngine locks = PermitProcess.locks(server.url(), "auto")) {
            locks.acquire(LockRequest.of(KEY).waitTime(PROMISED.plus(TOLERANCE)))
                    .release();
        }
    }

    private void report(List<Long> took) {
        List<Long> sorted = took.stream().sorted().toList();
        System.out.println(store + ": " + took.size() + " kills, " + counter.entered()
                + " times at work, at most " + counter.most(KEY) + " at one time; all " + PERMITS
                + " permits in use again after " + sorted.get(0) + " ms at least, " + sorted.get(sorted.size() / 2)
                + " ms in the middle, " + sorted.get(sorted.size() - 1) + " ms at most; promised are "
                + PROMISED.toMillis() + " ms");
    }

    /** Answers after how many milliseconds all permits are in use by the others. */
    private long killOne(int victim) throws Exception {
        counter.awaitAtWork(KEY, PERMITS - WORK.callers(), PATIENCE);
        processes.get(victim).kill();
        List<ChildJvm> others = new ArrayList<>(processes);
        others.remove(victim);
        others.forEach(process -> process.ask(PermitProcess.HOLD));
        // A release until now may have handed a permit to a dead waiter.
        long from = System.nanoTime();
        processes.set(victim, start(victim));
        long back = counter.awaitAtWork(KEY, PERMITS, PROMISED.plus(TOLERANCE));
        others.forEach(process -> process.ask(PermitProcess.GO_ON));
        processes.get(victim).ask(WORK.command(), PATIENCE.toSeconds());
        return (back - from) / 1_000_000;
    }

    private ChildJvm start(int index) {
        return PermitProcess.start(server.url(), counter, BATCHING.get(index), random.nextLong());
    }
}
