package io.syncguard.verification.matrix;

import static io.syncguard.verification.matrix.Calls.nanos;
import static io.syncguard.verification.matrix.Calls.refused;
import static io.syncguard.verification.matrix.Calls.used;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Fleet.Absence;
import io.syncguard.verification.matrix.ServedRule.Recovery;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServedRuleTests {

    private static final long TTL_MILLIS = 1000;
    private static final Duration TOLERANCE = Duration.ofMillis(1000);
    private static final Recovery AT_ONCE = new Recovery() {
        @Override
        public long longestPauseAfter(long outageMillis) {
            return 0;
        }
    };
    private static final Recovery WITH_PAUSE = new Recovery() {};
    private static final Recovery WITH_SNAPSHOT = new Recovery() {
        @Override
        public boolean bringsBackEnded() {
            return true;
        }
    };

    private final Absences absences = new Absences();

    @AfterEach
    void closeAbsences() {
        absences.close();
    }

    @Test
    void a_key_may_be_without_a_holder_for_a_ttl_and_the_tolerance() {
        assertThat(check(AT_ONCE, List.of(), waiter(2500))).isEmpty();
    }

    @Test
    void a_key_without_a_holder_for_longer_is_a_violation() {
        assertThat(check(AT_ONCE, List.of(), waiter(2501)))
                .singleElement()
                .asString()
                .startsWith("SERVED: the key " + Calls.KEY + " had no holder for 2501 ms");
    }

    @Test
    void a_waiter_that_leaves_without_the_key_counts() {
        assertThat(check(AT_ONCE, List.of(), refused("p1", 10_000, 12_501))).hasSize(1);
    }

    @Test
    void the_entry_of_a_dead_waiter_may_be_in_front() {
        absences.add(List.of(new Absence("p2", nanos(9500), Long.MAX_VALUE)));
        Call dead = refused("p2", 8000, 0);

        assertThat(check(AT_ONCE, List.of(), dead, waiter(6500))).isEmpty();
        assertThat(check(AT_ONCE, List.of(), dead, waiter(6501))).hasSize(1);
    }

    @Test
    void a_server_that_brings_back_ended_leases_may_keep_the_key_as_long() {
        assertThat(check(WITH_SNAPSHOT, List.of(), waiter(6500))).isEmpty();
        assertThat(check(WITH_SNAPSHOT, List.of(), waiter(6501))).hasSize(1);
    }

    @Test
    void the_time_of_a_fault_is_extra() {
        Round round = new Round(Fault.calm(), nanos(10_000), nanos(10_300), nanos(14_000));

        assertThat(check(AT_ONCE, List.of(round), waiter(2800))).isEmpty();
        assertThat(check(AT_ONCE, List.of(round), waiter(2801))).hasSize(1);
    }

    @Test
    void the_pause_of_a_pool_after_it_is_extra() {
        Round round = new Round(Fault.calm(), nanos(10_000), nanos(10_300), nanos(14_000));

        assertThat(check(WITH_PAUSE, List.of(round), waiter(3100))).isEmpty();
        assertThat(check(WITH_PAUSE, List.of(round), waiter(3101))).hasSize(1);
    }

    /** The library releases what is in doubt within two network timeouts, also if the ttl is longer. */
    @Test
    void while_all_processes_live_nobody_waits_for_the_end_of_a_long_lease() {
        assertThat(check(AT_ONCE, 10_000, List.of(), waiter(5500))).isEmpty();
        assertThat(check(AT_ONCE, 10_000, List.of(), waiter(5501))).hasSize(1);
    }

    @Test
    void the_lease_of_a_dead_holder_may_last() {
        absences.add(List.of(new Absence("p2", nanos(9000), Long.MAX_VALUE)));

        assertThat(check(AT_ONCE, 10_000, List.of(), waiter(11_500))).isEmpty();
        assertThat(check(AT_ONCE, 10_000, List.of(), waiter(11_501))).hasSize(1);
    }

    private static Call waiter(long waitedMillis) {
        long granted = 10_000 + waitedMillis;
        return used("p1", Kind.PLAIN, 10_000, granted, granted + 100, 1);
    }

    private List<String> check(Recovery recovery, List<Round> rounds, Call... calls) {
        return check(recovery, TTL_MILLIS, rounds, calls);
    }

    private List<String> check(Recovery recovery, long ttlMillis, List<Round> rounds, Call... calls) {
        List<Call> all = List.of(calls);
        return new ServedRule(recovery, ttlMillis, absences, rounds, TOLERANCE).check(all, Gaps.of(all, absences));
    }
}
