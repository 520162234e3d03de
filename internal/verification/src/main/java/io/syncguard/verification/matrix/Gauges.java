package io.syncguard.verification.matrix;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The resource use of a process, which it writes to a file for the test. */
final class Gauges {

    private static final double MEGABYTE = 1e6;

    private Gauges() {}

    /** Writes the file in one step: it is complete as soon as it exists. */
    static void write(Path file) throws IOException {
        System.gc();
        Map<String, Double> gauges = new LinkedHashMap<>();
        gauges.put(
                "heap after a collection, MB",
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MEGABYTE);
        gauges.put("threads", (double) ManagementFactory.getThreadMXBean().getThreadCount());
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
            gauges.put("open files", (double) system.getOpenFileDescriptorCount());
        }
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        Files.write(
                draft,
                gauges.entrySet().stream()
                        .map(gauge -> gauge.getKey() + "=" + gauge.getValue())
                        .toList());
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    static Map<String, Double> read(Path file) throws IOException {
        return Files.readAllLines(file).stream()
                .map(line -> line.split("="))
                .collect(Collectors.toMap(
                        words -> words[0],
                        words -> Double.valueOf(words[1]),
                        (one, other) -> other,
                        LinkedHashMap::new));
    }
}
