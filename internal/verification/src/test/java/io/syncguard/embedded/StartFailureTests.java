package io.syncguard.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user reads when a server does not start on his machine. */
class StartFailureTests {

    @TempDir
    private Path temporary;

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "redis"})
    void a_file_system_without_programs_is_named(String server) throws Exception {
        assumeTrue(
                System.getProperty("os.name").equals("Linux") && "root".equals(System.getProperty("user.name")),
                "only root on Linux can mount a file system with noexec");
        run("mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", temporary.toString());
        Files.createDirectory(UserDirectory.in(temporary).resolve("binaries"));
        try (Joiner joiner = Joiner.start(temporary, server, 0)) {
            assertThat(joiner.answer())
                    .contains("runs no programs in " + temporary, "noexec", "-Djava.io.tmpdir=", "or set the port");
        } finally {
            run("umount", "-l", temporary.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "redis"})
    void a_port_of_another_program_is_named(String server) throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                Joiner joiner = Joiner.start(temporary, server, other.getLocalPort())) {
            assertThat(joiner.answer())
                    .contains("Port " + other.getLocalPort(), "taken by another program", "set the port");
        }
    }

    @Test
    void a_machine_that_prefers_ipv6_starts_a_postgres() throws Exception {
        try (Joiner joiner = Joiner.start(temporary, "postgres", 0, "-Djava.net.preferIPv6Addresses=true")) {
            assertThat(joiner.answer()).contains("jdbc:postgresql:");
        }
    }

    @Test
    void the_last_line_of_the_log_is_shown() throws Exception {
        SharedServer shared = new SharedServer("syncguard-test", 1, "set the port");
        Files.createDirectories(shared.directory());
        Files.writeString(shared.log(), "starting\nFATAL:  no memory\n");

        ServerNotStartedException failure = shared.notStarted("PostgreSQL", null);
        shared.removeDirectory();

        assertThat(failure).hasMessageEndingWith("server.log ends with: FATAL:  no memory");
        assertThat(failure.remedy()).isEqualTo("set the port");
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }
}
