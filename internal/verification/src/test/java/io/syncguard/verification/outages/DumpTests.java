package io.syncguard.verification.outages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.UsualBuild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A database that is dumped while locks are held, and restored elsewhere. It needs PostgreSQL's {@code pg_dump} beside
 * a server of the same version.
 */
@Tag("verification")
class DumpTests {

    private static final Duration TTL = Duration.ofSeconds(3);

    private static Path programs;

    @TempDir
    private Path directory;

    @BeforeAll
    static void findPrograms() throws IOException {
        Path debian = Path.of("/usr/lib/postgresql");
        try (Stream<Path> versions = Files.isDirectory(debian) ? Files.list(debian) : Stream.empty()) {
            programs = Stream.concat(
                            Stream.ofNullable(System.getenv("SYNCGUARD_TEST_POSTGRES_BIN"))
                                    .map(Path::of),
                            versions.map(version -> version.resolve("bin")))
                    .filter(bin -> Stream.of("postgres", "pg_dump", "pg_restore")
                            .allMatch(name -> Files.isExecutable(bin.resolve(name))))
                    .findFirst()
                    .orElse(null);
        }
        assumeTrue(programs != null, "no pg_dump: install Debian's package postgresql");
    }

    static Stream<String> sources() {
        return UsualBuild.first(1, Stream.of("counter", "clock"));
    }

    @ParameterizedTest
    @MethodSource("sources")
    void a_restored_database_keeps_its_locks_to_their_end_and_its_fences_grow_on(String fences) throws Exception {
        try (OwnPostgres server = new OwnPostgres(Map.of("fsync", "off"), programs)) {
            Path dump = directory.resolve("dump");
            Fence[] before = new Fence[2];
            application(server.url(), fences, locks -> {
                before[0] = acquireAndRelease(locks, "order:7");
                LockHandle held = locks.acquire(LockRequest.of("order:42").ttl(TTL));
                before[1] = held.fence();
                run("pg_dump", server, "postgres", "--format=custom", "--file=" + dump);
                // The restored lease is not extended.
                server.jdbc().execute("CREATE DATABASE restored");
                run("pg_restore", server, "restored", "--exit-on-error", dump.toString());
            });

            String restored = server.url().replace("/postgres?", "/restored?");
            assertThat(new JdbcTemplate(PostgresServer.dataSource(restored))
                            .queryForList("SELECT key FROM syncguard_locks", String.class))
                    .containsExactly("order:42");
            application(restored, fences, locks -> {
                assertThat(acquireAndRelease(locks, "order:7")).isGreaterThan(before[0]);
                assertThat(acquireAndRelease(locks, "order:42")).isGreaterThan(before[1]);
                assertThat(acquireAndRelease(locks, "order:new")).isNotNull();
            });
        }
    }

    private static Fence acquireAndRelease(LockManager locks, String key) {
        try (LockHandle lock = locks.acquire(LockRequest.of(key).waitTime(Duration.ofMinutes(1)))) {
            return lock.fence();
        }
    }

    private static void application(String url, String fences, Use use) throws Exception {
        StoreCalls store = ApplicationBackend.on(
                url, 4, Duration.ofSeconds(5), PostgresSettings.WAITER_TTL, Map.of("syncguard.fences", fences)::get);
        try (LockEngine locks =
                new LockEngine(store, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of())) {
            use.of(locks);
        }
    }

    private static void run(String program, OwnPostgres server, String database, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = Stream.concat(
                        Stream.of(
                                programs.resolve(program).toString(),
                                "--host=127.0.0.1",
                                "--port=" + server.port(),
                                "--username=postgres",
                                "--dbname=" + database),
                        Stream.of(arguments))
                .toList();
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
    }

    private interface Use {
        void of(LockManager locks) throws Exception;
    }
}
