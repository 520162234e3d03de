package io.syncguard.verification.matrix;

import static io.syncguard.verification.matrix.Calls.lost;
import static io.syncguard.verification.matrix.Calls.nanos;
import static io.syncguard.verification.matrix.Calls.used;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Fleet.Absence;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CalmRulesTests {

    private static final long TTL_MILLIS = 3000;
    private static final Duration TOLERANCE = Duration.ofMillis(1000);
    private static final Round ROUND = new Round(Fault.calm(), nanos(10_000), nanos(20_000), nanos(21_000));

    private final Absences absences = new Absences();

    @AfterEach
    void closeAbsences() {
        absences.close();
    }

    @Test
    void a_key_that_is_used_again_soon_is_accepted() {
        assertThat(check(used("p1", Kind.PLAIN, 15_000, 16_000, 16_100, 1))).isEmpty();
    }

    @Test
    void a_key_that_stays_free_although_somebody_waits_is_a_violation() {
        assertThat(check(used("p1", Kind.PLAIN, 15_000, 16_001, 16_100, 1)))
                .singleElement()
                .asString()
                .startsWith("WAKE-UP");
    }

    /** The effect of the fault before it may last a second. */
    @Test
    void a_gap_that_began_before_the_calm_was_settled_is_accepted() {
        assertThat(check(used("p1", Kind.PLAIN, 11_000, 16_000, 16_100, 1))).isEmpty();
    }

    @Test
    void the_queue_entry_of_a_process_that_died_shortly_before_may_be_in_front() {
        absences.add(List.of(new Absence("p2", nanos(10_500), Long.MAX_VALUE)));

        assertThat(check(used("p1", Kind.PLAIN, 15_000, 17_000, 17_100, 1))).isEmpty();
        assertThat(check(used("p1", Kind.PLAIN, 17_000, 19_000, 19_100, 1))).hasSize(1);
    }

    @Test
    void a_lost_lock_is_a_violation() {
        assertThat(check(lost("p1", 15_000, 15_001, 16_000)))
                .singleElement()
                .asString()
                .startsWith("LOSS");
    }

    @Test
    void a_lock_that_was_granted_before_the_calm_was_settled_may_be_lost() {
        assertThat(check(lost("p1", 10_000, 10_900, 16_000))).isEmpty();
    }

    @Test
    void a_process_that_stood_still_for_a_third_of_the_ttl_may_lose_its_lock() {
        absences.add(List.of(new Absence("p1", nanos(15_100), nanos(16_100))));

        assertThat(check(lost("p1", 15_000, 15_001, 17_000))).isEmpty();
        assertThat(check(lost("p2", 15_000, 15_001, 17_000))).hasSize(1);
    }

    private List<String> check(Call call) {
        List<Call> calls = List.of(call);
        return CalmRules.check(calls, Gaps.of(calls, absences), absences, ROUND, TTL_MILLIS, TOLERANCE);
    }
}
