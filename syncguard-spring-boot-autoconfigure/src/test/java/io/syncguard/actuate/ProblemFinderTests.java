package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.core.ProcessStatus;
import io.syncguard.spi.PoolStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What operators are told to look at. */
class ProblemFinderTests {

    private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");

    private final ProblemFinder problems = new ProblemFinder(KeyView.PLAIN);

    @Test
    void what_works_needs_no_advice() {
        problems.lookAt(process(5, 3, 0, true, 0));
        problems.lookAt(process(0, 0, 4, false, 0));
        problems.lookAt(process(0, 1, 0, null, 0));
        problems.lookAt("order", new NameDescriptor(9, 9, 0, 9, 1, 0, Duration.ofHours(1), Duration.ofHours(1)));
        problems.lookAt(lock("order:1", Duration.ofMinutes(15), 9));
        problems.lookAt(lock("leader:jobs", Duration.ofDays(3), 12));

        assertThat(problems.advice()).isEmpty();
    }

    @Test
    void heartbeats_that_fail_and_wake_ups_that_do_not_arrive_are_problems() {
        problems.lookAt(process(5, 3, 2, false, 4));

        assertThat(problems.advice())
                .extracting(AdviceDescriptor::problem)
                .containsExactly(
                        "2 heartbeats to postgres have failed, and 5 locks are about to be lost",
                        "Wake-ups from postgres do not arrive, so 3 callers poll",
                        "4 threads wait for one of the 8 connections of the library");
    }

    @Test
    void leases_that_expired_and_operations_that_failed_are_problems_of_their_name() {
        problems.lookAt("order", new NameDescriptor(9, 0, 3, 5, 2, 1, Duration.ZERO, Duration.ZERO));

        assertThat(problems.advice())
                .extracting(advice -> advice.subject() + ": " + advice.problem())
                .containsExactly("order: 1 locks expired while they were held", "order: 3 operations failed");
    }

    @Test
    void a_lock_that_is_held_for_long_and_a_long_queue_are_problems_of_their_key() {
        problems.lookAt(lock("order:1", Duration.ofMinutes(16), 10));

        assertThat(problems.advice())
                .extracting(advice -> advice.subject() + ": " + advice.problem())
                .containsExactly(
                        "order:1: here has held it for 16 minutes",
                        "order:1: 10 wait for it, 6 of them for less than a minute");
    }

    private static ProcessStatus process(int held, int waiting, int failed, @Nullable Boolean wakeUps, int awaiting) {
        return new ProcessStatus(
                "postgres",
                "here",
                true,
                held,
                waiting,
                Duration.ZERO,
                failed,
                wakeUps,
                new PoolStatus(8, 0, awaiting, 8));
    }

    /** The waiters arrived every ten seconds. */
    private static LockStatus lock(String key, Duration held, int waiters) {
        return new LockStatus(
                key,
                NOW,
                List.of(new LockInfo("", "", LockMode.EXCLUSIVE, NOW.minus(held), NOW, new Fence(1), "here")),
                IntStream.range(0, waiters)
                        .mapToObj(i -> new LockStatus.Waiter(LockMode.EXCLUSIVE, 0, "there", NOW.minusSeconds(10L * i)))
                        .toList(),
                waiters);
    }
}
