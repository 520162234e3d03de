package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Shows that processor time is that of the system, or none. */
class ProcessorTimeTests {

    @Test
    @EnabledOnOs(OS.LINUX)
    void the_time_of_a_process_is_in_the_unit_of_the_system() {
        Duration time = ProcessHandle.current().info().totalCpuDuration().orElseThrow();

        // The tree has also the processes that this one has started.
        assertThat(ProcessorTime.ofTree(ProcessHandle.current().pid()))
                .isBetween(time.toNanos() / 1e3, time.toNanos() / 1e3 + 60e6);
        assertThat(ProcessorTime.ofThisProcess()).isCloseTo(time.toNanos() / 1e3, within(1e6));
    }

    @Test
    void a_process_that_cannot_be_seen_has_no_time() {
        assertThat(ProcessorTime.ofTree(Long.MAX_VALUE)).isNaN();
    }

    @Test
    void a_figure_that_cannot_be_had_is_not_printed_as_a_number() {
        assertThat(Bench.line("SyncGuard", List.of(1.0, Double.NaN)))
                .startsWith("SyncGuard ")
                .endsWith(" not available on this system");
    }
}
