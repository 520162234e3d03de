package io.syncguard.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class SeriesTests {

    @Test
    void what_grows_slowly_all_the_time_grows() {
        assertThat(series(second -> 20 + second / 100).grows()).isTrue();
    }

    @Test
    void what_grows_while_it_warms_up_does_not() {
        assertThat(series(second -> Math.min(20 + second / 10, 90)).grows()).isFalse();
    }

    @Test
    void what_swings_does_not() {
        assertThat(series(second -> 20 + second % 30).grows()).isFalse();
    }

    @Test
    void the_medians_are_those_of_the_second_and_the_last_quarter() {
        Series series = series(second -> second);

        assertThat(series.early()).isBetween(1300.0, 1400.0);
        assertThat(series.late()).isBetween(3100.0, 3200.0);
    }

    /** An hour, a value every twenty seconds. */
    private static Series series(DoubleUnaryOperator value) {
        Series series = new Series("a");
        for (int second = 0; second <= 3600; second += 20) {
            series.add(second, value.applyAsDouble(second));
        }
        return series;
    }
}
