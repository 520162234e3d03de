package io.syncguard.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.check.Finding.Verdict;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.stress.StressReport;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The load finds planted bugs and servers that forget, and nothing on a sound server. */
class LoadRunTests {

    /** A bug that each release has shows at once. */
    private static final int SECONDS = 10;

    private static final int LONG_SECONDS = 40;

    /** How many loads have to find a bug. */
    private static final int LOADS = 4;

    @Test
    void a_load_of_few_grants_is_a_warning() {
        try (Server server = Address.connect(RedisServer.url(), "", "");
                Area area = server.newArea();
                LoadRun load = new LoadRun(area, null, new PrintWriter(System.out, true), List.of())) {
            assertThat(load.findings(reportWith(19))).anyMatch(finding -> finding.verdict() == Verdict.WARNING);
            assertThat(load.findings(reportWith(2_000))).noneMatch(finding -> finding.verdict() == Verdict.WARNING);
        }
    }

    private static StressReport reportWith(long grants) {
        return new StressReport(
                new StressSettings(1, 20, 3, 4),
                List.of(),
                Map.of("ACQUIRE OK", grants),
                grants,
                20,
                0,
                0,
                0,
                0,
                0,
                List.of());
    }

    @Test
    void a_load_that_is_ended_leaves_no_files(@TempDir Path directory) throws Exception {
        Path files = Files.createDirectory(directory.resolve("load"));
        try (Server server = Address.connect(RedisServer.url(), "", "");
                Area area = server.newArea()) {
            LoadRun load = new LoadRun(area, null, new PrintWriter(System.out, true), List.of());
            FutureTask<List<Finding>> running =
                    new FutureTask<>(() -> load.run(new StressSettings(1, LONG_SECONDS, 3, 4), files));
            new Thread(running).start();
            while (files.toFile().list().length < 3) {
                LockSupport.parkNanos(1_000_000);
            }

            load.close();

            assertThat(running).failsWithin(Duration.ofSeconds(LONG_SECONDS));
            assertThat(files).doesNotExist();
        }
    }

    @Test
    void a_release_by_key_is_found() throws Exception {
        assertThat(isFoundOnRedis(Bug.RELEASE_BY_KEY, SECONDS)).isTrue();
    }

    @ParameterizedTest
    @Tag("verification")
    @EnumSource(names = {"WAKE_UP_IS_GRANT", "OWN_GRANT_MISSED"})
    void other_bugs_of_the_library_are_found(Bug bug) throws Exception {
        assertThat(isFoundOnRedis(bug, LONG_SECONDS)).isTrue();
    }

    @ParameterizedTest
    @Tag("verification")
    @EnumSource(names = {"START_OF_TRANSACTION", "COUNTER_DELETED", "LARGER_NUMBER_PASSES"})
    void bugs_of_the_script_are_found(Bug bug) throws Exception {
        try (Server server = Address.connect(PostgresServer.newDatabaseUrl(), "", "");
                Area area = server.newArea()) {
            bug.install(((JdbcServer) server).pool(), ((PostgresArea) area).tables());

            assertThat(load(area, null, List.of())).anyMatch(LoadRunTests::isBroken);
        }
    }

    @Test
    @Tag("verification")
    void grants_that_a_crash_forgets_are_found() throws Exception {
        try (OwnPostgres durable = new OwnPostgres(Map.of("fsync", "on"));
                Server server = Address.connect(durable.url(), "", "");
                Area area = server.newArea()) {
            Bug.ASYNCHRONOUS_ACQUIRE.install(((JdbcServer) server).pool(), ((PostgresArea) area).tables());

            assertThat(load(
                            area,
                            () -> {
                                for (int crash = 0; crash < 5; crash++) {
                                    LockSupport.parkNanos(4_000_000_000L);
                                    durable.kill();
                                    durable.start();
                                }
                            },
                            List.of()))
                    .anyMatch(LoadRunTests::isBroken);
        }
    }

    @Test
    @Tag("verification")
    void a_redis_that_forgets_in_a_restart_is_found() throws Exception {
        try (OwnRedis forgetful = new OwnRedis();
                Server server = Address.connect(forgetful.url(), "", "");
                Area area = server.newArea()) {
            assertThat(load(
                            area,
                            () -> {
                                LockSupport.parkNanos(4_000_000_000L);
                                forgetful.kill();
                                forgetful.start();
                            },
                            List.of()))
                    .anyMatch(LoadRunTests::isBroken);
        }
    }

    @Test
    @Tag("verification")
    void a_redis_that_evicts_under_pressure_is_found() throws Exception {
        try (OwnRedis small = new OwnRedis("maxmemory 2mb", "maxmemory-policy allkeys-random");
                Server server = Address.connect(small.url(), "", "");
                Area area = server.newArea()) {
            Thread pressure = new Thread(() -> {
                for (int i = 0; !Thread.interrupted(); i++) {
                    small.commands().set("other:" + i, "x".repeat(5000));
                    LockSupport.parkNanos(500_000);
                }
            });
            pressure.start();
            try {
                assertThat(load(area, null, List.of())).anyMatch(LoadRunTests::isBroken);
            } finally {
                pressure.interrupt();
                pressure.join();
            }
        }
    }

    /** On a busy machine, one load may have too few grants to meet the bug. */
    private static boolean isFoundOnRedis(Bug bug, int seconds) throws Exception {
        for (int seed = 1; seed <= LOADS; seed++) {
            try (Server server = Address.connect(RedisServer.url(), "", "");
                    Area area = server.newArea()) {
                StressSettings settings = new StressSettings(seed, seconds, 3, 4);
                if (load(area, null, List.of(bug.property()), settings).stream().anyMatch(LoadRunTests::isBroken)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static List<Finding> load(Area area, @Nullable Runnable restart, List<String> settings) throws Exception {
        return load(area, restart, settings, new StressSettings(1, LONG_SECONDS, 3, 4));
    }

    private static List<Finding> load(
            Area area, @Nullable Runnable restart, List<String> properties, StressSettings settings) throws Exception {
        try (LoadRun load = new LoadRun(area, restart, new PrintWriter(System.out, true), properties)) {
            List<Finding> findings = load.run(settings, Files.createTempDirectory("load-"));
            assertThat(load.happened().contains("the server was restarted")).isEqualTo(restart != null);
            return findings;
        }
    }

    private static boolean isBroken(Finding finding) {
        return finding.verdict() == Verdict.BROKEN;
    }
}
