package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Defines a hand-over, and shows that a lock without mutual exclusion is reported instead of measured. */
class HandOversTests {

    @Test
    void a_thread_that_takes_the_key_again_hands_nothing_over() {
        List<Body> one = List.of(new Body(0, 10, 11), new Body(0, 20, 21), new Body(1, 30, 31));
        List<Body> other = List.of(new Body(1, 40, 41), new Body(1, 50, 51));

        assertThat(HandOvers.of(one, other)).isEqualTo(new HandOvers(5, 2, 1));
    }

    @Test
    void what_two_processes_saw_is_put_together_in_the_order_of_time() {
        List<Body> one = List.of(new Body(0, 30, 31), new Body(0, 10, 11));
        List<Body> other = List.of(new Body(0, 20, 21));

        assertThat(HandOvers.of(one, other)).isEqualTo(new HandOvers(3, 2, 2));
    }

    @Test
    void two_bodies_at_the_same_time_end_the_run() {
        List<Body> one = List.of(new Body(0, 10, 15));
        List<Body> other = List.of(new Body(0, 14, 20));

        assertThatIllegalStateException()
                .isThrownBy(() -> HandOvers.of(one, other))
                .withMessage("Two bodies ran at the same time, for 1 ns");
    }

    @Test
    void a_body_is_read_as_it_was_written() {
        Body body = new Body(3, -7, 12);

        assertThat(Body.parse(body + " " + body)).containsExactly(body, body);
    }
}
