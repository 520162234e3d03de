package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.core.ProcessStatus;
import io.syncguard.core.StoreOutage;
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
        problems.lookAt(process(5, 3, 0, null, true, 0));
        problems.lookAt(process(0, 0, 0, null, false, 0));
        problems.lookAt(process(0, 1, 0, null, null, 0));
        problems.lookAt("order", new NameDescriptor(9, 9, 0, 9, 1, 0, Duration.ofHours(1), Duration.ofHours(1)));
        problems.lookAt(lock("order:1", Duration.ofMinutes(15), 9));
        problems.lookAt(lock("leader:jobs", Duration.ofDays(3), 12));

        assertThat(problems.advice()).isEmpty();
    }

    @Test
    void an_outage_is_told_with_its_time_its_reason_and_the_locks_that_are_in_danger() {
        StoreOutage outage = new StoreOutage(Duration.ofSeconds(35), 7, LockErrorCode.SERVICE_UNAVAILABLE, "refused");

        problems.lookAt(process(50_050, 0, 50, outage, true, 0));
        problems.lookAt(process(0, 0, 0, outage, true, 0));

        assertThat(problems.advice())
                .extracting(advice -> advice.problem() + ". " + advice.action())
                .containsExactly(
                        "postgres has not answered for 35 s, and 50 of 50050 locks are lost unless they are extended"
                                + " soon. Look at the server and the network. The last error: refused",
                        "postgres has not answered for 35 s. Look at the server and the network. The last error:"
                                + " refused");
    }

    @Test
    void a_reader_who_may_not_see_keys_gets_no_message_of_an_outage() {
        ProblemFinder hidden = new ProblemFinder(new HiddenKeys(null));
        hidden.lookAt(process(
                0, 0, 0, new StoreOutage(Duration.ofSeconds(1), 1, LockErrorCode.INTERNAL, "key order:42"), true, 0));

        assertThat(hidden.advice())
                .singleElement()
                .extracting(AdviceDescriptor::action)
                .asString()
                .contains("INTERNAL")
                .doesNotContain("order:42");
    }

    @Test
    void of_many_locks_with_the_same_problem_the_worst_stand_for_all() {
        IntStream.rangeClosed(1, 100)
                .forEach(i -> problems.lookAt(lock("order:" + i, Duration.ofMinutes(15 + i), 9 + i)));

        assertThat(problems.advice())
                .extracting(advice -> advice.subject() + ": " + advice.problem())
                .containsExactly(
                        "order:100: here has held it for 115 minutes",
                        "order:99: here has held it for 114 minutes",
                        "order:98: here has held it for 113 minutes",
                        "null: 97 more leases have been held for more than 15 minutes",
                        "order:100: 109 wait for it, 6 of them for less than a minute",
                        "order:99: 108 wait for it, 6 of them for less than a minute",
                        "order:98: 107 wait for it, 6 of them for less than a minute",
                        "null: 97 more keys have 10 waiters or more");
    }

    @Test
    void late_extensions_and_wake_ups_that_do_not_arrive_are_problems() {
        problems.lookAt(process(5, 3, 2, null, false, 4));

        assertThat(problems.advice())
                .extracting(AdviceDescriptor::problem)
                .containsExactly(
                        "2 of 5 locks in postgres could not be extended in time",
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

    private static ProcessStatus process(
            int held, int waiting, int overdue, @Nullable StoreOutage outage, @Nullable Boolean wakeUps, int awaiting) {
        return new ProcessStatus(
                "postgres",
                "here",
                true,
                held,
                overdue,
                waiting,
                Duration.ZERO,
                overdue,
                outage,
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
