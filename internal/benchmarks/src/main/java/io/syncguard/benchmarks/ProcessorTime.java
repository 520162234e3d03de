package io.syncguard.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processor time that a process has used so far, in microseconds; NaN if the system does not report it. */
final class ProcessorTime {

    /** The unit of {@code /proc}: USER_HZ of Linux, which is 100 on all processors that Java 17 runs on. */
    private static final double MICROS_PER_TICK = 10_000;

    /** The numbers of utime, stime, cutime and cstime behind the name of the program: see proc(5). */
    private static final int FIRST_TIME = 11;

    private static final int LAST_TIME = 14;

    private ProcessorTime() {}

    /** The time of all threads of this process. */
    static double ofThisProcess() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                        && system.getProcessCpuTime() >= 0
                ? system.getProcessCpuTime() / 1e3
                : Double.NaN;
    }

    /** The time of a process and its descendants, including ended ones. */
    static double ofTree(long process) {
        double root = micros(process);
        // The time of a descendant that ends meanwhile moves to its parent.
        return ProcessHandle.of(process).stream()
                .flatMap(ProcessHandle::descendants)
                .mapToDouble(descendant -> micros(descendant.pid()))
                .filter(time -> !Double.isNaN(time))
                .reduce(root, Double::sum);
    }

    private static double micros(long process) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process), "stat"));
            // The name stands in brackets, and may contain blanks and brackets.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            long ticks = 0;
            for (int field = FIRST_TIME; field <= LAST_TIME; field++) {
                ticks += Long.parseLong(fields[field]);
            }
            return ticks * MICROS_PER_TICK;
        } catch (IOException ex) {
            return Double.NaN;
        }
    }
}
