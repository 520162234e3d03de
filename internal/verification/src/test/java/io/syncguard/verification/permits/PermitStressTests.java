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
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Three processes work with permits, drain keys now and then, and are killed at random. A counter that is not ours sees
 * never more at work than there are permits.
 */
@Tag("verification")
@ParameterizedClass
@EnumSource
class PermitStressTests {

    private static final int PROCESSES = 3;
    private static final List<Integer> PERMITS = List.of(1, 3, 7);
    private static final List<String> BATCHING = List.of("auto", "off", "always");
    private static final int DRAINS_PER_MILLE = 30;
    private static final int MOST_MILLIS = 20;
    private static final long BETWEEN_KILLS_NANOS = 1_500_000_000L;

    /** One ttl and the tolerance, and what else a busy machine does. */
    private static final Duration UNTIL_ALL_IS_FREE = PermitProcess.TTL.plusSeconds(21);

    private final StressSettings settings = StressSettings.fromSystemProperties();
    private final Random random = new Random(settings.seed());
    private final PlaceCounter counter = new PlaceCounter();
    private final List<ChildJvm> processes = new ArrayList<>();
    private final QueueStore store;
    private final QueueServer server;

    PermitStressTests(QueueStore store) {
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
    void no_more_than_the_permits_are_at_work_while_processes_are_killed() {
        begin(0);
        int kills = 0;
        long until = System.nanoTime() + settings.seconds() * 1_000_000_000L;
        while (System.nanoTime() < until || !everythingHasHappened() && kills < 100) {
            LockSupport.parkNanos(random.nextLong(2 * BETWEEN_KILLS_NANOS));
            int victim = random.nextInt(PROCESSES);
            processes.get(victim).kill();
            processes.set(victim, start(victim, 0));
            kills++;
        }
        List<String> failures = rest();

        System.out.println(
                store + ": seed " + settings.seed() + ", " + counter.entered() + " times at work, " + kills + " kills");
        assertThat(counter.violations()).isEmpty();
        assertThat(failures).containsOnly("[]");
        assertThat(everythingHasHappened())
                .as("all permits were used, and each key was drained")
                .isTrue();
        allIsFree();
    }

    @Test
    void a_limit_that_is_not_kept_is_found() {
        begin(1);
        long patience = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (counter.violations().isEmpty() && System.nanoTime() < patience) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(counter.violations()).isNotEmpty();
    }

    private boolean everythingHasHappened() {
        return PERMITS.stream()
                .allMatch(permits -> counter.most(key(permits)) == permits && counter.exclusive(key(permits)) > 0);
    }

    private void allIsFree() {
        try (LockEngine locks = PermitProcess.locks(server.url(), "auto")) {
            PERMITS.forEach(
                    permits -> locks.acquire(LockRequest.of(key(permits)).waitTime(UNTIL_ALL_IS_FREE))
                            .release());
        }
    }

    private List<String> rest() {
        processes.forEach(process -> process.ask(PermitProcess.END));
        return processes.stream()
                .map(process -> process.ask(PermitProcess.FAILURES))
                .toList();
    }

    /** @param more permits than the counter is told */
    private void begin(int more) {
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(start(i, more));
        }
    }

    private ChildJvm start(int index, int more) {
        ChildJvm process = PermitProcess.start(server.url(), counter, BATCHING.get(index), random.nextLong());
        PERMITS.forEach(permits -> process.ask(
                new Work(key(permits), permits + more, permits, DRAINS_PER_MILLE, permits, MOST_MILLIS).command()));
        return process;
    }

    private static String key(int permits) {
        return "partner-" + permits;
    }
}
