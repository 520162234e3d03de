package io.syncguard.verification.matrix;

import static io.syncguard.verification.matrix.Calls.refused;
import static io.syncguard.verification.matrix.Calls.used;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Fleet.Absence;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CallRulesTests {

    private static final long NETWORK_TIMEOUT_MILLIS = 1000;
    private static final Duration TOLERANCE = Duration.ofMillis(100);

    private final Absences absences = new Absences();

    @AfterEach
    void closeAbsences() {
        absences.close();
    }

    @Test
    void holders_one_after_the_other_with_growing_fences_are_accepted() {
        assertThat(CallRules.check(
                        List.of(used("p1", Kind.PLAIN, 10, 20, 30, 1), used("p2", Kind.PLAIN, 10, 30, 40, 2))))
                .isEmpty();
    }

    @Test
    void a_fence_that_is_granted_twice_is_a_violation() {
        assertThat(CallRules.check(
                        List.of(used("p1", Kind.PLAIN, 10, 20, 30, 1), used("p2", Kind.PLAIN, 15, 30, 40, 1))))
                .singleElement()
                .asString()
                .startsWith("FENCE_ORDER: fence 1 was granted twice");
    }

    @Test
    void a_later_grant_with_a_smaller_fence_is_a_violation() {
        assertThat(CallRules.check(
                        List.of(used("p1", Kind.PLAIN, 10, 20, 30, 2), used("p2", Kind.PLAIN, 25, 30, 40, 1))))
                .singleElement()
                .asString()
                .startsWith("FENCE_ORDER: a later grant has a smaller fence");
    }

    /** The order in which the server granted them is not known. */
    @Test
    void fences_of_calls_that_waited_at_the_same_time_may_have_any_order() {
        assertThat(CallRules.check(List.of(used("p1", Kind.READ, 10, 20, 30, 2), used("p2", Kind.READ, 15, 25, 40, 1))))
                .isEmpty();
    }

    @Test
    void two_writers_at_one_time_are_a_violation() {
        assertThat(CallRules.check(
                        List.of(used("p1", Kind.PLAIN, 10, 20, 30, 1), used("p2", Kind.GUARDED, 15, 29, 40, 2))))
                .singleElement()
                .asString()
                .startsWith("ONE_HOLDER");
    }

    @Test
    void a_reader_and_a_writer_at_one_time_are_a_violation() {
        assertThat(CallRules.check(List.of(
                        used("p1", Kind.READ, 10, 20, 50, 1),
                        used("p2", Kind.READ, 10, 20, 30, 2),
                        used("p3", Kind.PLAIN, 15, 40, 60, 3))))
                .singleElement()
                .asString()
                .startsWith("ONE_HOLDER");
    }

    @Test
    void readers_at_one_time_are_accepted() {
        assertThat(CallRules.check(List.of(used("p1", Kind.READ, 10, 20, 30, 1), used("p2", Kind.READ, 10, 20, 40, 2))))
                .isEmpty();
    }

    @Test
    void as_many_as_the_permits_at_one_time_are_accepted_and_readers_have_no_limit() {
        assertThat(CallRules.check(List.of(
                        used("p1", Kind.READ, 10, 20, 50, 1),
                        used("p2", Kind.PERMIT, 10, 21, 50, 2),
                        used("p3", Kind.READ, 10, 22, 50, 3))))
                .isEmpty();
    }

    @Test
    void more_than_the_permits_at_one_time_are_a_violation() {
        assertThat(CallRules.check(List.of(
                        used("p1", Kind.READ, 10, 20, 50, 1),
                        used("p2", Kind.PERMIT, 10, 21, 50, 2),
                        used("p3", Kind.PERMIT, 10, 22, 50, 3))))
                .singleElement()
                .asString()
                .startsWith("PERMITS");
    }

    @Test
    void a_refusal_within_wait_time_network_timeout_and_tolerance_is_in_time() {
        assertThat(hangs(refused("p1", 10, 3110))).isEmpty();
    }

    @Test
    void a_refusal_after_that_is_a_violation() {
        assertThat(hangs(refused("p1", 10, 3111))).singleElement().asString().startsWith("NO_CALL_HANGS");
    }

    @Test
    void a_grant_after_that_is_a_violation() {
        assertThat(hangs(used("p1", Kind.PLAIN, 10, 3111, 3112, 1)))
                .singleElement()
                .asString()
                .startsWith("NO_CALL_HANGS");
    }

    @Test
    void the_time_of_the_body_does_not_count() {
        assertThat(hangs(used("p1", Kind.PLAIN, 10, 3110, 9000, 1))).isEmpty();
    }

    @Test
    void the_time_in_which_its_process_was_paused_does_not_count() {
        absences.add(List.of(new Absence("p1", Calls.nanos(1000), Calls.nanos(2000))));

        assertThat(hangs(refused("p1", 10, 4110))).isEmpty();
        assertThat(hangs(refused("p2", 10, 4110))).hasSize(1);
    }

    private List<String> hangs(Call call) {
        return CallRules.hangs(List.of(call), NETWORK_TIMEOUT_MILLIS, absences, TOLERANCE);
    }
}
