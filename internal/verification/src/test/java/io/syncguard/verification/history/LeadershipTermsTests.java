package io.syncguard.verification.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The checker of leadership histories finds the violations that are planted there, and accepts what may have been
 * correct.
 */
class LeadershipTermsTests {

    private final LeadershipTerms history = new LeadershipTerms();

    @Test
    void terms_one_after_the_other_with_growing_fences_are_accepted() {
        history.add("a", 1, 1, 0, 1);
        history.add("a", 1, 1, 10, 11);
        history.add("a", 1, 2, 20, 21);
        history.add("b", 1, 3, 30, 31);
        history.add("b", 1, 3, 40, 41);
        history.add("a", 2, 4, 50, 51);

        assertThat(history.violations()).isEmpty();
        assertThat(history.terms()).hasSize(3);
        assertThat(history.proofs()).isEqualTo(6);
    }

    /** Proofs with member, term, fence, start and end, and a part of the only violation. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', nullValues = "accepted", textBlock = """
            terms of two members that overlap | a 1 1 0 1, a 1 1 20 21, b 1 2 10 11, b 1 2 30 31 | Two leaders
            a single proof between two of another term | a 1 1 0 1, a 1 3 20 21, b 1 2 10 11 | Two leaders
            a leader that proves once more after the next one | a 1 1 0 1, b 1 2 10 11, a 1 1 12 13 | Two leaders
            a process that was stopped in a proof | a 1 1 0 1, a 1 1 2 100, b 1 2 10 11, b 1 2 90 91 | accepted
            the same fence in two terms | a 1 1 0 1, b 1 1 10 11 | do not grow
            a smaller fence in a later term | a 1 5 0 1, a 2 4 10 11 | do not grow
            a rotation to a fence that a later term has | a 1 1 0 1, a 1 2 2 3, b 1 2 10 11 | do not grow
            a smaller fence in the same term | a 1 2 0 1, a 1 1 10 11, a 1 2 20 21 | after a larger one
            """)
    void proofs(String what, String proofs, @Nullable String violation) {
        for (String proof : proofs.split(", ")) {
            String[] words = proof.split(" ");
            long[] numbers = Stream.of(words).skip(1).mapToLong(Long::parseLong).toArray();
            history.add(words[0], (int) numbers[0], numbers[1], numbers[2], numbers[3]);
        }

        if (violation == null) {
            assertThat(history.violations()).isEmpty();
        } else {
            assertThat(history.violations()).singleElement().asString().contains(violation);
        }
    }

    @Test
    void two_terms_of_which_either_may_be_the_first_need_different_fences_only() {
        history.add("a", 1, 2, 0, 10);
        history.add("b", 1, 1, 5, 15);
        assertThat(history.violations()).isEmpty();

        history.add("c", 1, 2, 5, 10);
        assertThat(history.violations()).singleElement().asString().contains("do not grow");
    }

    @Test
    void the_torn_last_line_of_a_killed_process_is_left_out(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("a");
        Files.writeString(
                file, proof(1, 7, 10).toLine() + "\n" + proof(2, 8, 20).toLine() + "\nLED\ta\tobs");

        history.read(file);

        assertThat(history.terms()).containsExactly(new LeadershipTerms.Term("a", 1, 11, 20, 7, 8));
    }

    private static HistoryEvent proof(long number, long fence, long at) {
        return HistoryEvent.of(Kind.LED, new Source("a", "observer", number), "scheduler", "", at)
                .answered(at + 1, Outcome.OK)
                .with(Lease.ofFence(fence))
                .with(1);
    }

    @Test
    void a_fail_over_ends_with_the_first_proof_of_the_next_term() {
        history.add("a", 1, 1, 0, 1);
        history.add("a", 1, 1, 20, 21);
        history.add("b", 1, 2, 40, 41);

        assertThat(history.nanosToNextTerm(15)).hasValue(26);
        assertThat(history.nanosToNextTerm(41)).isEmpty();
    }
}
