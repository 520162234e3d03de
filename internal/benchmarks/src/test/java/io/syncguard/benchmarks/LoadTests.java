package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Shows that each thread does its work at least once, and that the work is counted. */
class LoadTests {

    private final Map<Integer, Long> last = new ConcurrentHashMap<>();
    private final AtomicLong times = new AtomicLong();

    @Test
    void each_thread_works_once_at_least_and_each_time_is_recorded() throws Exception {
        Pace pace = Load.of(16).run(Duration.ZERO, this::work);

        assertThat(last).hasSize(16);
        assertThat(pace.count()).isEqualTo(times.get()).isGreaterThanOrEqualTo(16);
    }

    @Test
    void a_thread_counts_its_own_work() throws Exception {
        Pace pace = Load.of(1).run(Duration.ofMillis(5), this::work);

        assertThat(last).containsEntry(0, pace.count() - 1);
    }

    @Test
    void a_failure_ends_the_measurement() {
        assertThatThrownBy(() -> Load.of(4).run(Duration.ZERO, (thread, count) -> {
                    throw new IllegalStateException("refused");
                }))
                .hasRootCauseMessage("refused");
    }

    @Test
    void five_hundred_virtual_threads_work_where_the_jdk_has_them() throws Exception {
        Load load = new Load(500, true);
        assertThat(load.isPossible()).isEqualTo(Runtime.version().feature() >= 21);
        assumeTrue(load.isPossible(), "This JDK has no virtual threads");

        load.run(Duration.ZERO, this::work);

        assertThat(last).hasSize(500);
    }

    @Test
    void the_label_says_how_many_threads_of_which_kind() {
        assertThat(Load.of(1).label()).isEqualTo("1 thread");
        assertThat(Load.of(64).label()).isEqualTo("64 threads");
        assertThat(new Load(500, true).label()).isEqualTo("500 virtual threads");
    }

    private void work(int thread, long count) {
        last.put(thread, count);
        times.incrementAndGet();
    }
}
