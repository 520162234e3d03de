package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import io.syncguard.postgres.PostgresScript;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class SchemaScriptTests {

    private static final ClassPathResource SCRIPT =
            new ClassPathResource(PostgresScript.LOCATION + "/R__syncguard_schema.sql");

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void it_runs_as_one_statement_of_plain_jdbc_again_and_again() throws Exception {
        runThroughJdbc();
        runThroughJdbc();

        assertApplicationStarts();
    }

    @Test
    void it_runs_under_psql_as_its_header_says_again_and_again() throws Exception {
        runUnderPsql();
        runUnderPsql();

        assertApplicationStarts();
    }

    /** As several administrators, or the jobs of a deployment, do. */
    @RepeatedTest(3)
    void it_runs_under_several_psql_at_once_and_beside_instances_that_start() throws Exception {
        List<FutureTask<Void>> all = Stream.<Callable<Void>>of(
                        this::runUnderPsql, this::runUnderPsql, this::runUnderPsql, this::startApplication)
                .map(FutureTask::new)
                .toList();
        all.forEach(each -> new Thread(each).start());
        for (FutureTask<Void> each : all) {
            each.get(1, TimeUnit.MINUTES);
        }

        assertApplicationStarts();
    }

    @Test
    void it_keeps_the_limit_for_locks_of_the_transaction_around_it() {
        new TransactionTemplate(new DataSourceTransactionManager(database.jdbc().getDataSource()))
                .executeWithoutResult(transaction -> {
                    runThroughJdbc();
                    assertThat(database.jdbc().queryForObject("SHOW lock_timeout", String.class))
                            .isEqualTo("0");
                    database.jdbc().execute("SET LOCAL lock_timeout = '7s'");
                    runThroughJdbc();
                    assertThat(database.jdbc().queryForObject("SHOW lock_timeout", String.class))
                            .isEqualTo("7s");
                });
    }

    @Test
    void it_runs_while_locks_are_held_and_being_taken() {
        Applications.on(database.url())
                .run(application -> application.getBean(LockTemplate.class).execute("order:1", lock -> {
                    runThroughJdbc();
                    assertThat(lock.extend(Duration.ofSeconds(30))).isTrue();
                    assertThat(application
                                    .getBean(LockTemplate.class)
                                    .tryExecute(lock.request().key("order:2"), other -> database.lockedKeys())
                                    .value())
                            .isEqualTo(List.of("order:1", "order:2"));
                    return lock;
                }));
    }

    @Test
    void it_makes_each_index_once_however_often_it_runs() throws Exception {
        runThroughJdbc();
        List<String> indexes = indexes();
        runThroughJdbc();

        assertThat(indexes).hasSize(9).doesNotHaveDuplicates();
        assertThat(indexes()).isEqualTo(indexes);
    }

    /** The names of the indexes by table and columns. */
    private List<String> indexes() {
        return database.jdbc().queryForList("""
                SELECT regexp_replace(indexdef, '.* ON ', '') AS definition FROM pg_indexes
                WHERE schemaname = 'public'
                ORDER BY definition
                """, String.class);
    }

    @Test
    void it_keeps_what_is_stored() throws Exception {
        runThroughJdbc();
        database.jdbc().execute("INSERT INTO syncguard_fence_counters VALUES ('fence:order:1', 41, 'order:1')");
        runThroughJdbc();

        Applications.on(database.url()).run(application -> {
            long fence = application
                    .getBean(LockTemplate.class)
                    .execute("order:1", lock -> lock.fence().value());
            assertThat(fence).isEqualTo(42);
        });
    }

    private Void startApplication() {
        Applications.on(database.url())
                .run(application -> assertThat(application).hasNotFailed());
        return null;
    }

    private void assertApplicationStarts() {
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.schema-management=none")
                .run(application -> assertThat(application).hasNotFailed());
    }

    private void runThroughJdbc() {
        JdbcTemplate jdbc = database.jdbc();
        jdbc.execute(text().replace("${syncguard_locks}", "syncguard_locks")
                .replace("${syncguard_fence_counters}", "syncguard_fence_counters")
                .replace("${syncguard_fence_source}", "counter"));
    }

    /** Runs the script through JDBC where there is no psql. */
    private Void runUnderPsql() throws Exception {
        if (!isOnThePath("psql")) {
            runThroughJdbc();
            return null;
        }
        String header = text().lines()
                .filter(line -> line.endsWith("| psql"))
                .findFirst()
                .orElseThrow()
                .substring("--".length());
        Path file = Files.writeString(Files.createTempFile(Path.of("target"), "schema", ".sql"), text());
        String command = header.replace(" FILE ", " '" + file + "' ")
                + " --no-psqlrc --quiet --set ON_ERROR_STOP=1 '"
                + database.url().substring("jdbc:".length()) + "'";
        Process psql = new ProcessBuilder("sh", "-c", command)
                .redirectErrorStream(true)
                .start();
        String output = new String(psql.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(psql.waitFor()).as(output).isZero();
        return null;
    }

    private static boolean isOnThePath(String program) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(directory -> Path.of(directory, program).toFile().canExecute());
    }

    private static String text() {
        try {
            return SCRIPT.getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
