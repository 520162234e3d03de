package io.syncguard.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The memory that this process may still use: the least of what the machine has available and of what each of its
 * control groups has left. Linux only; 0 elsewhere.
 *
 * @see <a href="https://docs.kernel.org/admin-guide/cgroup-v2.html#memory">Control groups</a>
 */
final class AvailableMemory {

    private static final long KILOBYTE = 1024;

    private final Path root;

    /** @param root the root of the file system; tests have their own */
    AvailableMemory(Path root) {
        this.root = root;
    }

    long bytes() throws IOException {
        Path memory = root.resolve("proc/meminfo");
        if (!Files.exists(memory)) {
            return 0;
        }
        long available = KILOBYTE * field(memory, "MemAvailable:");
        for (Path group : groups()) {
            available = Math.min(available, left(group));
        }
        return Math.max(0, available);
    }

    /** The groups of this process and those around them. A container may see only the outermost one. */
    private List<Path> groups() throws IOException {
        List<Path> groups = new ArrayList<>();
        for (String line : Files.readAllLines(root.resolve("proc/self/cgroup"))) {
            String[] fields = line.split(":", 3);
            boolean unified = fields[1].isEmpty();
            if (unified || List.of(fields[1].split(",")).contains("memory")) {
                Path mounted = root.resolve(unified ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
                Path group = mounted.resolve("." + fields[2]).normalize();
                Stream.iterate(group, each -> each.startsWith(mounted), Path::getParent)
                        .forEach(groups::add);
            }
        }
        return groups;
    }

    /** The memory that a group has left. Cached files that nobody uses count as free. */
    private static long left(Path group) throws IOException {
        Path limit = group.resolve("memory.max");
        return Files.exists(limit)
                ? left(limit, group.resolve("memory.current"), group.resolve("memory.stat"), "inactive_file")
                : left(
                        group.resolve("memory.limit_in_bytes"),
                        group.resolve("memory.usage_in_bytes"),
                        group.resolve("memory.stat"),
                        "total_inactive_file");
    }

    private static long left(Path limit, Path used, Path statistics, String unused) throws IOException {
        if (!Files.exists(limit) || Files.readString(limit).startsWith("max")) {
            return Long.MAX_VALUE;
        }
        return number(limit) - number(used) + field(statistics, unused);
    }

    private static long number(Path file) throws IOException {
        return Long.parseLong(Files.readString(file).trim());
    }

    private static long field(Path file, String name) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.map(line -> line.split("\\s+"))
                    .filter(fields -> fields[0].equals(name))
                    .mapToLong(fields -> Long.parseLong(fields[1]))
                    .findFirst()
                    .orElse(0);
        }
    }
}
