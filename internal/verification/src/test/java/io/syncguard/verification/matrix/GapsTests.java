package io.syncguard.verification.matrix;

import static io.syncguard.verification.matrix.Calls.KEY;
import static io.syncguard.verification.matrix.Calls.nanos;
import static io.syncguard.verification.matrix.Calls.refused;
import static io.syncguard.verification.matrix.Calls.used;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Fleet.Absence;
import io.syncguard.verification.matrix.Gaps.Gap;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GapsTests {

    private final Absences absences = new Absences();

    @AfterEach
    void closeAbsences() {
        absences.close();
    }

    @Test
    void a_key_without_a_holder_has_a_gap_from_the_first_waiter_to_its_grant() {
        assertThat(gaps(used("p1", Kind.PLAIN, 10, 20, 30, 1))).containsExactly(new Gap(KEY, nanos(10), nanos(20)));
    }

    @Test
    void a_gap_begins_with_the_release_if_somebody_waits() {
        assertThat(gaps(used("p1", Kind.PLAIN, 10, 10, 30, 1), used("p2", Kind.PLAIN, 20, 35, 40, 2)))
                .contains(new Gap(KEY, nanos(30), nanos(35)));
    }

    @Test
    void a_waiter_that_is_refused_ends_its_gap() {
        assertThat(gaps(refused("p1", 10, 2010))).containsExactly(new Gap(KEY, nanos(10), nanos(2010)));
    }

    @Test
    void a_holder_counts_until_its_process_is_killed() {
        absences.add(List.of(new Absence("p1", nanos(50), Long.MAX_VALUE)));

        assertThat(gaps(used("p1", Kind.PLAIN, 10, 10, 0, 1), used("p2", Kind.PLAIN, 20, 90, 95, 2)))
                .contains(new Gap(KEY, nanos(50), nanos(90)));
    }

    @Test
    void a_waiter_counts_until_its_process_is_killed() {
        absences.add(List.of(new Absence("p1", nanos(50), Long.MAX_VALUE)));

        assertThat(gaps(refused("p1", 10, 0))).containsExactly(new Gap(KEY, nanos(10), nanos(50)));
    }

    private List<Gap> gaps(Call... calls) {
        return Gaps.of(List.of(calls), absences);
    }
}
