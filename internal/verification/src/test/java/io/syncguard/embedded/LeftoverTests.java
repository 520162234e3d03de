package io.syncguard.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a killed process leaves behind, and what the next process does with it. */
class LeftoverTests {

    private static final Pattern PORT = Pattern.compile("127\\.0\\.0\\.1:(\\d+)");

    @TempDir
    private Path temporary;

    @Test
    void the_next_process_removes_the_servers_of_a_killed_one_and_none_of_a_living_one() throws Exception {
        try (Joiner living = Joiner.start(temporary, "own", 0)) {
            Joiner killed = Joiner.start(temporary, "own", 0);
            killed.kill();
            assertThat(ports(killed)).hasSize(2).allMatch(LeftoverTests::isThere);
            assertThat(directories("run-")).hasSize(2);

            Joiner next = Joiner.start(temporary, "own", 0);
            Patience.awaitOrFail(() -> ports(killed).stream().noneMatch(LeftoverTests::isThere));
            assertThat(ports(living)).allMatch(LeftoverTests::isThere);
            assertThat(directories("run-")).hasSize(2);
            next.close();
        }
    }

    @Test
    void the_next_process_stops_a_shared_postgres_that_nobody_uses() throws Exception {
        assertUnusedIsStopped("postgres");
    }

    @Test
    @Tag("verification")
    void the_next_process_stops_a_shared_redis_that_nobody_uses() throws Exception {
        assertUnusedIsStopped("redis");
    }

    @Test
    @Tag("verification")
    void a_shared_postgres_that_died_with_its_process_is_started_anew() throws Exception {
        assertDeadIsStarted("postgres");
    }

    @Test
    void a_shared_redis_that_died_with_its_process_is_started_anew() throws Exception {
        assertDeadIsStarted("redis");
    }

    private void assertUnusedIsStopped(String server) throws Exception {
        try (Joiner living = Joiner.start(temporary, server, 0)) {
            Joiner killed = Joiner.start(temporary, server, 0);
            killed.kill();
            assertThat(ports(killed)).allMatch(LeftoverTests::isThere);

            try (Joiner next = Joiner.start(temporary, server, 0)) {
                assertThat(ports(killed)).noneMatch(LeftoverTests::isThere);
                assertThat(ports(living)).allMatch(LeftoverTests::isThere);
                assertThat(ports(next)).allMatch(LeftoverTests::isThere);
            }
        }
        assertThat(directories("syncguard-test/server-")).isEmpty();
    }

    private void assertDeadIsStarted(String server) throws Exception {
        Joiner killed = Joiner.start(temporary, server, 0);
        int port = ports(killed).get(0);
        killed.kill();
        PidFile.below(UserDirectory.in(temporary).resolve("syncguard-test"))
                .forEach(file -> file.process().ifPresent(LeftoverTests::kill));
        assertThat(isThere(port)).isFalse();

        try (Joiner next = Joiner.start(temporary, server, port)) {
            assertThat(ports(next)).containsExactly(port);
        }
        assertThat(isThere(port)).isFalse();
    }

    private List<Path> directories(String prefix) throws IOException {
        Path user = UserDirectory.in(temporary);
        try (Stream<Path> found = Files.walk(user, 2)) {
            return found.filter(Files::isDirectory)
                    .filter(path -> user.relativize(path).toString().startsWith(prefix))
                    .filter(path -> user.relativize(path).getNameCount()
                            == Path.of(prefix).getNameCount())
                    .toList();
        }
    }

    private static List<Integer> ports(Joiner joiner) {
        return PORT.matcher(joiner.answer())
                .results()
                .map(found -> Integer.parseInt(found.group(1)))
                .toList();
    }

    private static void kill(ProcessHandle server) {
        server.destroyForcibly();
        Patience.awaitOrFail(() -> !server.isAlive());
    }

    private static boolean isThere(int port) {
        try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port)) {
            return socket.isConnected();
        } catch (IOException ex) {
            return false;
        }
    }
}
