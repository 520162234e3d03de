package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Shows that processor time is that of the system, or none. */
class ProcessorTimeTests {

    /** A step of the system, and one of rounding. */
    private static final double PRECISION = 20_000;

    @Test
    @EnabledOnOs(OS.LINUX)
    void the_time_of_a_process_is_in_the_unit_of_the_system() throws Exception {
        Process busy = new ProcessBuilder("sh", "-c", "while :; do :; done").start();
        try {
            while (micros(busy.toHandle()) < 300_000) {
                LockSupport.parkNanos(1_000_000);
            }
            double before = micros(busy.toHandle());
            double time = ProcessorTime.ofTree(busy.pid());
            double after = micros(busy.toHandle());

            assertThat(time).isBetween(before - PRECISION, after + PRECISION);
        } finally {
            busy.destroyForcibly();
        }
    }

    @Test
    void the_time_of_this_process_is_in_the_same_unit() {
        double before = micros(ProcessHandle.current());
        double time = ProcessorTime.ofThisProcess();
        double after = micros(ProcessHandle.current());

        assertThat(time).isBetween(before - PRECISION, after + PRECISION);
    }

    private static double micros(ProcessHandle process) {
        return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e3;
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
