package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.TestDatabase;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.testing.PostgresServer;
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

    private static final Duration TTL = Duration.ofMinutes(1);

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void it_runs_as_one_statement_of_plain_jdbc_again_and_again() throws Exception {
        runThroughJdbc();
        runThroughJdbc();

        assertComplete();
    }

    @Test
    void it_runs_under_psql_as_its_header_says_again_and_again() throws Exception {
        runUnderPsql();
        runUnderPsql();

        assertComplete();
    }

    /** Several administrators, or the jobs of a deployment, run it at the same time. */
    @RepeatedTest(3)
    void it_runs_under_several_psql_at_once_and_beside_instances_that_start() throws Exception {
        List<FutureTask<Void>> all = Stream.<Callable<Void>>of(
                        this::runUnderPsql, this::runUnderPsql, this::runUnderPsql, this::startInstance)
                .map(FutureTask::new)
                .toList();
        all.forEach(each -> new Thread(each).start());
        for (FutureTask<Void> each : all) {
            each.get(1, TimeUnit.MINUTES);
        }

        assertComplete();
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
        try (StoreCalls store = PooledPostgres.on(database.url())) {
            AcquireRequest first = request("order:1");
            assertThat(store.acquire(first)).isInstanceOf(AcquireResult.Granted.class);

            runThroughJdbc();

            assertThat(store.extendAll(List.of(Requests.extension(first.lockId(), TTL))))
                    .hasOnlyElementsOfType(ExtendResult.Extended.class);
            assertThat(store.acquire(request("order:2"))).isInstanceOf(AcquireResult.Granted.class);
            assertThat(database.lockedKeys()).containsExactly("order:1", "order:2");
        }
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

        try (StoreCalls store = PooledPostgres.on(database.url())) {
            assertThat(store.acquire(request("order:1")))
                    .isInstanceOfSatisfying(
                            AcquireResult.Granted.class,
                            granted -> assertThat(granted.fence().value()).isEqualTo(42));
        }
    }

    private static AcquireRequest request(String key) {
        return Requests.exclusive(key, Requests.newLockId(), TTL, "test");
    }

    private Void startInstance() {
        schema().initialize();
        return null;
    }

    private void assertComplete() {
        schema().check();
    }

    private PostgresSchema schema() {
        return new PostgresSchema(PostgresServer.dataSource(database.url()), PostgresTables.DEFAULT);
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
