package io.syncguard.verification.matrix;

import static io.syncguard.verification.matrix.Calls.refused;
import static io.syncguard.verification.matrix.Calls.used;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.Fleet.Absence;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallRulesTests {

    private static final long NETWORK_TIMEOUT_MILLIS = 1000;
    private static final Duration TOLERANCE = Duration.ofMillis(100);

    private final Absences absences = new Absences();

    @AfterEach
    void closeAbsences() {
        absences.close();
    }

    /** Calls with process, kind, start, grant, end and fence, and the beginning of the only violation. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', nullValues = "accepted", textBlock = """
            holders one after the other with growing fences | p1 PLAIN 10 20 30 1, p2 PLAIN 10 30 40 2 | accepted
            a fence twice | p1 PLAIN 10 20 30 1, p2 PLAIN 15 30 40 1 | FENCE_ORDER: fence 1 was granted twice
            a smaller fence | p1 PLAIN 10 20 30 2, p2 PLAIN 25 30 40 1 | FENCE_ORDER: a later grant has a smaller fence
            any order of fences when both waited at once | p1 READ 10 20 30 2, p2 READ 15 25 40 1 | accepted
            two writers at one time | p1 PLAIN 10 20 30 1, p2 GUARDED 15 29 40 2 | ONE_HOLDER
            readers and a writer at one time | p1 READ 10 20 50 1, p2 READ 10 20 30 2, p3 PLAIN 15 40 60 3 | ONE_HOLDER
            readers at one time | p1 READ 10 20 30 1, p2 READ 10 20 40 2 | accepted
            permits, and readers without limit | p1 READ 10 20 50 1, p2 PERMIT 10 21 50 2, p3 READ 10 22 50 3 | accepted
            more than the permits | p1 READ 10 20 50 1, p2 PERMIT 10 21 50 2, p3 PERMIT 10 22 50 3 | PERMITS
            """)
    void calls(String what, String calls, @Nullable String violation) {
        List<String> found =
                CallRules.check(Stream.of(calls.split(", ")).map(Calls::used).toList());

        if (violation == null) {
            assertThat(found).isEmpty();
        } else {
            assertThat(found).singleElement().asString().startsWith(violation);
        }
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
