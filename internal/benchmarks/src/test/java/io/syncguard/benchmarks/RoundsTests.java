package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Shows that measurements take turns. */
class RoundsTests {

    private final List<String> turns = new ArrayList<>();

    @Test
    void each_round_begins_with_somebody_else() throws Exception {
        new Rounds(3, Duration.ZERO, false).interleave(measurements("a", "b", "c"));

        assertThat(turns).containsExactly("a", "b", "c", "b", "c", "a", "c", "a", "b");
    }

    @Test
    void a_round_that_warms_up_does_not_count() throws Exception {
        Map<String, List<Integer>> found = new Rounds(2, Duration.ZERO, true).interleave(measurements("a", "b"));

        assertThat(turns).containsExactly("b", "a", "a", "b", "b", "a");
        assertThat(found).containsEntry("a", List.of(3, 6)).containsEntry("b", List.of(4, 5));
    }

    @Test
    void rounds_on_new_code_warm_up_until_it_is_compiled() throws Exception {
        Map<String, List<Integer>> found =
                new Rounds(1, Duration.ofSeconds(8), true).interleaveOnNewCode(measurements("a", "b"));

        assertThat(turns).containsExactly("b", "a", "a", "b", "b", "a", "a", "b");
        assertThat(found).containsEntry("a", List.of(7)).containsEntry("b", List.of(8));
    }

    @Test
    void short_rounds_on_new_code_do_not_warm_up() throws Exception {
        Rounds.SHORT.interleaveOnNewCode(measurements("a", "b"));

        assertThat(turns).containsExactly("a", "b");
    }

    /** Each of them finds the number of turns so far. */
    private Map<String, Callable<Integer>> measurements(String... names) {
        Map<String, Callable<Integer>> measurements = new LinkedHashMap<>();
        for (String name : names) {
            measurements.put(name, () -> {
                turns.add(name);
                return turns.size();
            });
        }
        return measurements;
    }
}
