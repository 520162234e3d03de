package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ManualTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How long a value serves. */
class PacedTests {

    private final ManualTime time = new ManualTime();
    private final AtomicInteger made = new AtomicInteger();
    private Duration cost = Duration.ZERO;
    private final Paced<Integer> paced = new Paced<>(
            () -> {
                time.advance(cost);
                return made.incrementAndGet();
            },
            time);

    @Test
    void what_costs_nothing_is_made_for_each_reader() {
        assertThat(paced.get()).isEqualTo(1);
        assertThat(paced.get()).isEqualTo(2);
    }

    @Test
    void what_costs_time_serves_for_ten_times_as_long() {
        cost = Duration.ofMillis(50);
        assertThat(paced.get()).isEqualTo(1);

        time.advance(Duration.ofMillis(499));
        assertThat(paced.get()).isEqualTo(1);

        time.advance(Duration.ofMillis(1));
        assertThat(paced.get()).isEqualTo(2);
    }

    @Test
    void nothing_serves_for_more_than_a_second() {
        cost = Duration.ofMinutes(1);
        assertThat(paced.get()).isEqualTo(1);

        time.advance(Duration.ofSeconds(1));
        assertThat(paced.get()).isEqualTo(2);
    }
}
