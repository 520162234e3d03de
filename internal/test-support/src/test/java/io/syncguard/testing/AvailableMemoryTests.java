package io.syncguard.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory that a machine or a container has left. */
class AvailableMemoryTests {

    private static final long MB = 1 << 20;

    @TempDir
    private Path root;

    @BeforeEach
    void haveEightGigabytes() throws IOException {
        write("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n");
        write("proc/self/cgroup", "0::/\n");
    }

    @Test
    void without_limits_it_is_that_of_the_machine() throws IOException {
        write("sys/fs/cgroup/memory.max", "max\n");

        assertThat(available()).isEqualTo(8192 * MB);
    }

    @Test
    void the_limit_of_an_outer_group_counts() throws IOException {
        write("proc/self/cgroup", "0::/outer/inner\n");
        write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
        group("sys/fs/cgroup/outer", "memory.max", "memory.current", "inactive_file");

        assertThat(available()).isEqualTo((2048 - 1000 + 200) * MB);
    }

    @Test
    void the_limit_of_the_older_control_groups_counts() throws IOException {
        write("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/docker/1f\n0::/\n");
        // The path of the group is not there, as in a container.
        group("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");

        assertThat(available()).isEqualTo((2048 - 1000 + 200) * MB);
    }

    @Test
    void another_system_has_none() throws IOException {
        Files.delete(root.resolve("proc/meminfo"));

        assertThat(available()).isZero();
    }

    private void group(String path, String limit, String used, String unused) throws IOException {
        write(path + "/" + limit, 2048 * MB + "\n");
        write(path + "/" + used, 1000 * MB + "\n");
        write(path + "/memory.stat", "anon 1\n" + unused + " " + 200 * MB + "\n");
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private long available() throws IOException {
        return new AvailableMemory(root).bytes();
    }
}
