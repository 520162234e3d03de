package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.testing.PostgresServer;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The commands of docs/postgresql.md that write the script and run it with psql. */
@Timeout(60)
class SchemaScriptTests {

    private static final String NONE = "--syncguard.postgres.schema-management=none";

    @Test
    void the_application_starts_when_psql_has_run_the_script_that_it_wrote(@TempDir Path directory) throws Exception {
        assumeTrue(shell("command -v psql", directory, "") == 0, "psql is not installed");
        List<String> commands = DocumentBlock.in("sh").stream()
                .filter(block -> block.page().equals("docs/postgresql.md"))
                .flatMap(block -> block.text().lines())
                .toList();
        assertThat(commands).hasSize(2);
        String url = PostgresServer.newDatabaseUrl();
        String write = Stream.of(commands.get(0).split(" "))
                .filter(word -> word.startsWith("--"))
                .findFirst()
                .orElseThrow()
                .replace("syncguard.sql", directory.resolve("syncguard.sql").toString());

        assertThatThrownBy(() -> start(url, NONE, write).close()).hasRootCauseInstanceOf(LockSetupException.class);
        assertThat(shell(commands.get(1), directory, url.substring("jdbc:".length())))
                .isZero();
        try (ConfigurableApplicationContext application = start(url, NONE)) {
            assertThat(application.getBean(LockManager.class).isLocked("order:42"))
                    .isFalse();
        }
    }

    private static ConfigurableApplicationContext start(String url, String... arguments) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.datasource.url=" + url)
                .run(arguments);
    }

    private static int shell(String command, Path directory, String database) throws Exception {
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(new File("target", "psql.log"));
        shell.environment().put("DATABASE", database);
        return shell.start().waitFor();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}
}
