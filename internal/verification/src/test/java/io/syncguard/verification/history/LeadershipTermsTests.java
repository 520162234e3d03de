package io.syncguard.verification.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    @Test
    void terms_of_two_members_that_overlap_are_found() {
        history.add("a", 1, 1, 0, 1);
        history.add("a", 1, 1, 20, 21);
        history.add("b", 1, 2, 10, 11);
        history.add("b", 1, 2, 30, 31);

        assertThat(history.violations()).singleElement().asString().contains("Two leaders");
    }

    @Test
    void a_single_proof_between_two_of_another_term_is_found() {
        history.add("a", 1, 1, 0, 1);
        history.add("a", 1, 3, 20, 21);
        history.add("b", 1, 2, 10, 11);

        assertThat(history.violations()).singleElement().asString().contains("Two leaders");
    }

    @Test
    void a_leader_that_proves_once_more_after_the_next_one_is_found() {
        history.add("a", 1, 1, 0, 1);
        history.add("b", 1, 2, 10, 11);
        history.add("a", 1, 1, 12, 13);

        assertThat(history.violations()).singleElement().asString().contains("Two leaders");
    }

    @Test
    void a_process_that_was_stopped_in_the_middle_of_a_proof_may_have_made_it_before_the_next_leader() {
        history.add("a", 1, 1, 0, 1);
        history.add("a", 1, 1, 2, 100);
        history.add("b", 1, 2, 10, 11);
        history.add("b", 1, 2, 90, 91);

        assertThat(history.violations()).isEmpty();
    }

    @Test
    void the_same_fence_in_two_terms_is_found() {
        history.add("a", 1, 1, 0, 1);
        history.add("b", 1, 1, 10, 11);

        assertThat(history.violations()).singleElement().asString().contains("do not grow");
    }

    @Test
    void a_smaller_fence_in_a_later_term_is_found() {
        history.add("a", 1, 5, 0, 1);
        history.add("a", 2, 4, 10, 11);

        assertThat(history.violations()).singleElement().asString().contains("do not grow");
    }

    @Test
    void a_rotation_to_a_fence_that_a_later_term_has_is_found() {
        history.add("a", 1, 1, 0, 1);
        history.add("a", 1, 2, 2, 3);
        history.add("b", 1, 2, 10, 11);

        assertThat(history.violations()).singleElement().asString().contains("do not grow");
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
    void a_smaller_fence_in_the_same_term_is_found() {
        history.add("a", 1, 2, 0, 1);
        history.add("a", 1, 1, 10, 11);
        history.add("a", 1, 2, 20, 21);

        assertThat(history.violations()).singleElement().asString().contains("after a larger one");
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
