package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The README's commands print what it shows, in its order, on two instances. */
@Timeout(300)
class WalkThroughTests {

    private static final Pattern CONSOLE = Pattern.compile("(?ms)^```console\\R(.*?)^```$");

    private static final String START = "mvn ";

    private final Map<String, Integer> ports = Map.of("8080", freePort(), "8081", freePort(), "postgres", freePort());

    private final Map<String, OtherInstance> instances = new HashMap<>();

    @AfterEach
    void stop() {
        instances.values().forEach(OtherInstance::close);
    }

    @Tag("verification")
    @Test
    void each_command_prints_what_the_page_shows() throws Exception {
        assumeTrue(run("command -v curl").contains("curl"), "curl is not installed");
        List<String> blocks = CONSOLE.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(blocks).isNotEmpty();

        start("8080");
        for (String block : blocks) {
            if (block.contains("8081/instance")) {
                start("8080"); // the sentence above that block asks for it
            }
            if (block.contains(START)) {
                start("8081");
            }
            String commands = commands(block);
            List<String> shown =
                    masked(block).lines().filter(line -> !line.startsWith("$ ")).toList();
            assertThat(masked(run(commands))).as(commands).contains(shown.toArray(String[]::new));
        }
    }

    /** The commands of a block, without those that start an instance. */
    private static String commands(String block) {
        return block.lines()
                .filter(line -> line.startsWith("$ ") && !line.contains(START))
                .map(line -> line.substring(2))
                .collect(Collectors.joining("\n"));
    }

    /** Hides what differs from run to run. */
    private static String masked(String text) {
        return text.replaceAll("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z", "TIME")
                .replaceAll("order-service@\\d+@[^\"]+", "OWNER")
                .replaceAll("\"fence\":\\d+", "\"fence\":N")
                .replaceAll("(?m)^[45]\\.\\d+$", "SECONDS");
    }

    private void start(String port) throws IOException {
        instances.put(
                port + instances.size(),
                OtherInstance.start(List.of(
                        "--server.port=" + ports.get(port), "--sample.postgres-port=" + ports.get("postgres"))));
        await().atMost(Duration.ofSeconds(60))
                .until(() ->
                        run("curl -s localhost:" + port + "/actuator/health").contains("\"status\":\"UP\""));
    }

    private String run(String commands) throws IOException {
        String script = commands.replaceAll("localhost:(8080|8081)", "127.0.0.1:$1")
                .replace(":8080", ":" + ports.get("8080"))
                .replace(":8081", ":" + ports.get("8081"))
                .replace("localhost:$port", "127.0.0.1:$port")
                .replace("in 8080 8081", "in " + ports.get("8080") + " " + ports.get("8081"));
        Process shell = new ProcessBuilder("sh", "-c", script)
                .redirectError(new File("target", "walk-through.log"))
                .start();
        return new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
