package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The alert rules fire when they should, by the tool of Prometheus. */
class PrometheusAlertsTests {

    @Test
    void the_alerts_come_and_go() throws IOException, InterruptedException {
        String promtool = Stream.concat(
                        Stream.ofNullable(System.getenv("SYNCGUARD_TEST_PROMTOOL")),
                        Stream.of(System.getenv("PATH").split(File.pathSeparator))
                                .map(directory -> directory + "/promtool"))
                .filter(program -> Files.isExecutable(Path.of(program)))
                .findFirst()
                .orElse(null);
        assumeTrue(
                promtool != null, "no promtool: install Debian's package prometheus, or set SYNCGUARD_TEST_PROMTOOL");

        Process tool = new ProcessBuilder(promtool, "test", "rules", "src/test/resources/prometheus-alerts-tests.yml")
                .redirectErrorStream(true)
                .start();

        String output = new String(tool.getInputStream().readAllBytes());
        assertThat(tool.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(tool.exitValue()).as(output).isZero();
    }
}
