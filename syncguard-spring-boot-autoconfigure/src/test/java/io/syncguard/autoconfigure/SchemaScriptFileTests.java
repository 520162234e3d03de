package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;

/** The file for an administrator, if the application must not create its tables. */
class SchemaScriptFileTests {

    private static final String[] TABLES = {
        "syncguard.postgres.locks-table=shop_locks", "syncguard.postgres.fence-counters-table=shop_counters"
    };

    private final TestDatabase database = TestDatabase.empty();
    private final String role = database.newRole();

    @TempDir
    private Path directory;

    @Test
    void a_failed_start_writes_the_script_and_an_administrator_who_runs_it_makes_the_next_one_succeed()
            throws IOException {
        Path script = directory.resolve("syncguard.sql");
        asRole().withPropertyValues("syncguard.postgres.schema-script=" + script)
                .run(application -> assertThat(application).hasFailed());

        String sql = Files.readString(script);
        database.jdbc().execute(sql);
        database.jdbc().execute(grantsIn(sql));

        asRole().run(application -> {
            assertThat(application).hasNotFailed();
            boolean held = application.getBean(LockTemplate.class).execute("order:42", lock -> lock.isHeld());
            assertThat(held).isTrue();
        });
    }

    @Test
    void the_file_needs_no_server() throws IOException {
        Path script = directory.resolve("syncguard.sql");
        Applications.on("jdbc:postgresql://127.0.0.1:1/shop")
                .withPropertyValues(TABLES)
                .withPropertyValues(
                        "syncguard.postgres.schema-script=" + script, "syncguard.postgres.network-timeout=500ms")
                .run(application -> assertThat(application).hasFailed());

        assertThat(Files.readString(script))
                .contains("CREATE TABLE IF NOT EXISTS shop_locks", "CREATE TABLE IF NOT EXISTS shop_counters")
                .doesNotContain("${");
    }

    /** The head of the script in the jar is about its placeholders. */
    @Test
    void the_head_is_true_of_the_file_and_the_rest_is_the_script() throws IOException {
        Path file = directory.resolve("syncguard.sql");
        PostgresScript script =
                new PostgresScript(new PostgresTables("shop_locks", "shop_counters"), FenceSource.CLOCK);
        script.writeTo(file);

        String written = Files.readString(file);
        assertThat(written.substring(0, written.indexOf("\n--   GRANT")))
                .contains("shop_locks", "shop_counters", "from the clock", "psql -v ON_ERROR_STOP=1 -f FILE")
                .doesNotContain("sed", "placeholder", "Flyway", "syncguard_", "schema-script");
        String jar = new ClassPathResource(PostgresScript.LOCATION + "/R__syncguard_schema.sql")
                .getContentAsString(StandardCharsets.UTF_8)
                .replace("\r\n", "\n");
        for (Map.Entry<String, String> each : script.placeholders().entrySet()) {
            jar = jar.replace("${" + each.getKey() + "}", each.getValue());
        }
        String rights = "-- A user that only locks";
        assertThat(written.substring(written.indexOf(rights))).isEqualTo(jar.substring(jar.indexOf(rights)));
    }

    private ApplicationContextRunner asRole() {
        return Applications.on(database.url())
                .withPropertyValues(database.loginOf(role))
                .withPropertyValues(TABLES);
    }

    @Test
    void the_file_is_there_when_the_migrations_of_the_application_fail() {
        Path script = directory.resolve("syncguard.sql");
        Applications.withFlyway("jdbc:postgresql://127.0.0.1:1/shop")
                .withPropertyValues("syncguard.postgres.schema-script=" + script)
                .run(application -> assertThat(application).hasFailed());

        assertThat(script).exists();
    }

    /** The rights that the head of the script names. */
    private String grantsIn(String script) {
        return script.lines()
                .filter(line -> line.startsWith("--   GRANT"))
                .map(line -> line.replaceFirst("--\\s+", "").replaceFirst(" TO \\.\\.\\..*", " TO " + role))
                .collect(Collectors.joining(";\n"));
    }
}
