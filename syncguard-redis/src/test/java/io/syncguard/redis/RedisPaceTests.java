package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pauses between the steps of a list. */
class RedisPaceTests {

    @ParameterizedTest
    @CsvSource({"3, 57", "25, 100", "400, 100", "-7, 0"})
    void a_list_leaves_nineteen_twentieths_of_the_servers_time_to_locks(long stepMillis, long pauseMillis) {
        Clock clock = new Clock();
        RedisPace pace = new RedisPace(clock);

        pace.rest("listing locks", Duration.ofMillis(stepMillis).toNanos());

        assertThat(Duration.ofNanos(clock.slept)).isEqualTo(Duration.ofMillis(pauseMillis));
    }

    private static final class Clock implements Time {

        private long slept;

        @Override
        public long nanoTime() {
            throw new AssertionError("The caller has measured the step");
        }

        @Override
        public void await(Condition condition, long time) {
            throw new AssertionError("A pause waits for nothing");
        }

        @Override
        public void sleep(long time) {
            slept += time;
        }
    }
}
