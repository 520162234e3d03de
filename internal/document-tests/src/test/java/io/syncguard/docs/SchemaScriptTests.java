package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.testing.PostgresServer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

/** The script that an administrator runs by hand, as docs/postgresql.md tells it. */
@Timeout(60)
class SchemaScriptTests {

    private static final String NONE = "--syncguard.postgres.schema-management=none";

    private static final String LOCKS = "--syncguard.postgres.locks-table=locking.syncguard_locks";

    private static final String COUNTERS = "--syncguard.postgres.fence-counters-table=locking.syncguard_fence_counters";

    private static final String SCRIPT = "db/syncguard/postgresql/R__syncguard_schema.sql";

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate administrator = new JdbcTemplate(PostgresServer.dataSource(url));
    private final String database = administrator.queryForObject("SELECT current_database()", String.class);

    @TempDir
    private Path directory;

    @BeforeEach
    void needsPrograms() throws Exception {
        assumeTrue(shell("command -v psql && command -v unzip", "") == 0, "psql or unzip is not installed");
    }

    @Test
    void an_application_that_only_locks_starts_after_the_steps_of_the_page() throws Exception {
        administrator.execute("CREATE ROLE " + role("migration") + "; CREATE ROLE " + role("orders"));
        administrator.execute(rights("rights-schema"));
        try (ZipOutputStream application = newZip("app.jar")) {
            application.putNextEntry(new ZipEntry("BOOT-INF/lib/syncguard-postgres-1.0.jar"));
            ZipOutputStream library = new ZipOutputStream(application);
            library.putNextEntry(new ZipEntry(SCRIPT));
            new ClassPathResource(SCRIPT).getInputStream().transferTo(library);
            library.finish();
        }
        String commands = DocumentBlock.in("sh").stream()
                .filter(block -> block.page().equals("docs/postgresql.md"))
                .findFirst()
                .orElseThrow()
                .text();

        assertThat(shell(commands, urlOf("migration").substring("jdbc:".length())))
                .isZero();
        administrator.execute(rights("rights-locks"));

        try (ConfigurableApplicationContext application = start(urlOf("orders"), NONE, LOCKS, COUNTERS)) {
            LockHandle order = application.getBean(LockManager.class).acquire(LockRequest.of("order:42"));
            assertThat(order.release()).isTrue();
        }
    }

    @Test
    void the_script_that_an_application_writes_before_it_fails_is_complete() throws Exception {
        assertThatThrownBy(() -> start(
                                url, NONE, "--syncguard.postgres.schema-script=" + directory.resolve("syncguard.sql"))
                        .close())
                .hasRootCauseInstanceOf(LockSetupException.class);
        assertThat(shell("psql -v ON_ERROR_STOP=1 -f syncguard.sql \"$DATABASE\"", url.substring("jdbc:".length())))
                .isZero();
        try (ConfigurableApplicationContext application = start(url, NONE)) {
            assertThat(application.getBean(LockManager.class).isLocked("order:42"))
                    .isFalse();
        }
    }

    /** Statements of docs/security.md for the roles and the database of this test. */
    private String rights(String sample) {
        return DocumentBlock.in("sql").stream()
                .filter(block -> block.sample().equals(sample))
                .findFirst()
                .orElseThrow()
                .text()
                .replace("DATABASE shop", "DATABASE " + database)
                .replaceAll("\\b(migration|orders)\\b", database + "_$1");
    }

    private String role(String name) {
        return database + "_" + name + " LOGIN PASSWORD 'secret'";
    }

    private String urlOf(String role) {
        return url.replaceFirst("\\?.*", "?user=" + database + "_" + role + "&password=secret");
    }

    private ZipOutputStream newZip(String file) throws IOException {
        return new ZipOutputStream(Files.newOutputStream(directory.resolve(file)));
    }

    private static ConfigurableApplicationContext start(String url, String... arguments) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.datasource.url=" + url)
                .run(arguments);
    }

    private int shell(String command, String database) throws Exception {
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
