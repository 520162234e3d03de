package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.LockRequest;
import io.syncguard.actuate.LockHealth;
import io.syncguard.actuate.LockHealthIndicator;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.UsualBuild;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.health.contributor.Status;
import org.springframework.jdbc.core.JdbcTemplate;

/** The health of the locks on a server that answers and grants none, and afterwards. */
class StoreHealthTests {

    private static OwnRedis redis;
    private static JdbcTemplate jdbc;
    private static String database;
    private static String role;

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
        redis.commands().aclSetuser("locker", rights());
        TestDatabase own = TestDatabase.withSchema();
        jdbc = own.jdbc();
        role = own.newRole();
        jdbc.execute(("GRANT ALL ON ALL TABLES IN SCHEMA public TO %1$s;"
                        + "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO %1$s;"
                        + "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC")
                .formatted(role));
        String login = String.join("&", own.loginOf(role));
        database = login.replace("spring.datasource.url=", "")
                .replace("spring.datasource.username=", "user=")
                .replace("spring.datasource.password=", "password=");
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    static Stream<Condition> conditions() {
        return UsualBuild.first(
                3,
                Stream.of(
                        new Condition(
                                "Redis: a replica",
                                () -> redis.commands().replicaof("127.0.0.1", 1),
                                () -> redis.commands().replicaofNoOne()),
                        postgres(
                                "no right to insert",
                                "REVOKE INSERT ON syncguard_locks FROM role",
                                "GRANT INSERT ON syncguard_locks TO role"),
                        postgres(
                                "no table",
                                "ALTER TABLE syncguard_locks RENAME TO away",
                                "ALTER TABLE away RENAME TO syncguard_locks"),
                        redis("maxmemory", "1", "0"),
                        redis("min-replicas-to-write", "1", "0"),
                        new Condition(
                                "Redis: no right",
                                () -> redis.commands().aclSetuser("locker", rights().removeCommand(CommandType.SET)),
                                () -> redis.commands().aclSetuser("locker", rights())),
                        postgres(
                                "no right to count",
                                "REVOKE UPDATE ON syncguard_fence_counters FROM role",
                                "GRANT UPDATE ON syncguard_fence_counters TO role"),
                        postgres(
                                "no right to call",
                                "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM role",
                                "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO role"),
                        postgres(
                                "no counters",
                                "ALTER TABLE syncguard_fence_counters RENAME TO away",
                                "ALTER TABLE away RENAME TO syncguard_fence_counters"),
                        postgres(
                                "no disk",
                                "CREATE FUNCTION no_disk() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN RAISE"
                                        + " 'full' USING ERRCODE = '53100'; END $$;"
                                        + "CREATE TRIGGER no_disk BEFORE INSERT ON syncguard_locks FOR EACH ROW"
                                        + " EXECUTE FUNCTION no_disk()",
                                "DROP FUNCTION no_disk CASCADE")));
    }

    @ParameterizedTest
    @MethodSource("conditions")
    void is_down_while_no_lock_can_be_granted(Condition condition) {
        String url = condition.name.startsWith("Redis") ? redis.url("locker", "right") : database;
        try (LockEngine engine = engine(url)) {
            LockHealthIndicator health = health(engine);
            eventually().until(() -> health.health().getStatus().equals(Status.UP));

            condition.begin.run();
            try {
                eventually().until(() -> health.health().getStatus().equals(Status.DOWN));
            } finally {
                condition.end.run();
            }
            eventually().until(() -> health.health().getStatus().equals(Status.UP));
        }
    }

    @Test
    void is_down_on_a_standby() throws IOException {
        try (OwnPostgres server = new OwnPostgres();
                LockEngine engine = engine(server.url())) {
            LockHealthIndicator health = health(engine);
            eventually().until(() -> health.health().getStatus().equals(Status.UP));
            server.stop();
            server.startAsStandby();
            eventually().until(() -> health.health().getDetails().toString().contains("does not serve writes"));
            assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);

            server.promote();

            eventually().until(() -> health.health().getStatus().equals(Status.UP));
        }
    }

    @Test
    void an_interrupted_probe_says_nothing_about_the_store() throws Exception {
        try (LockEngine engine = engine(redis.url("locker", "right"))) {
            engine.acquire(LockRequest.of("connects")).release();
            LockHealthIndicator health = health(engine);
            FutureTask<String> interrupted =
                    new FutureTask<>(() -> health.health().getDetails().toString());
            Thread prober = new Thread(interrupted);
            redis.pauseWrites();
            try {
                prober.start();
                Awaitility.await()
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> prober.getState() == Thread.State.TIMED_WAITING);
                prober.interrupt();
                assertThat(interrupted.get()).contains("Interrupted while the store was probed");
            } finally {
                redis.goOn();
            }

            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
        }
    }

    private static Condition redis(String setting, String bad, String good) {
        return new Condition(
                "Redis: " + setting,
                () -> redis.commands().configSet(setting, bad),
                () -> redis.commands().configSet(setting, good));
    }

    private static Condition postgres(String name, String begin, String end) {
        return new Condition(
                "PostgreSQL: " + name,
                () -> jdbc.execute(begin.replaceAll("\\brole\\b", role)),
                () -> jdbc.execute(end.replaceAll("\\brole\\b", role)));
    }

    private static AclSetuserArgs rights() {
        return AclSetuserArgs.Builder.on()
                .addPassword("right")
                .allKeys()
                .allChannels()
                .allCommands();
    }

    private static LockHealthIndicator health(LockEngine engine) {
        return new LockHealthIndicator(new LockHealth(Map.of("lockManager", engine)));
    }

    private static LockEngine engine(String url) {
        return new LockEngine(
                ApplicationBackend.on(url, 2, Duration.ofSeconds(2)),
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.of());
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(50));
    }

    private record Condition(String name, Runnable begin, Runnable end) {

        @Override
        public String toString() {
            return name;
        }
    }
}
