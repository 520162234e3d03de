package io.syncguard.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.check.Finding.Verdict;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PgBouncer;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Each fault of a server that settings and connections show is found, and a sound server has none. */
class LookTests {

    static Stream<String> soundServers() {
        return Stream.of(
                PostgresServer.newDatabaseUrl(),
                MariaDbServer.newDatabaseUrl(),
                "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1",
                RedisServer.url());
    }

    @ParameterizedTest
    @MethodSource("soundServers")
    void nothing_is_broken_on_a_sound_server(String url) {
        assertThat(look(url))
                .isNotEmpty()
                .noneMatch(finding ->
                        finding.verdict() == Verdict.BROKEN && !finding.text().contains("fsync"));
    }

    @Test
    void a_database_that_does_not_write_to_its_disk_is_found() throws Exception {
        try (OwnPostgres careless = new OwnPostgres(Map.of("fsync", "off", "synchronous_commit", "off"))) {
            assertThat(look(careless.url()))
                    .anyMatch(finding -> finding.verdict() == Verdict.BROKEN
                            && finding.text().startsWith("fsync is off"))
                    .anyMatch(finding -> finding.verdict() == Verdict.WARNING
                            && finding.text().startsWith("synchronous_commit is off"));
        }
    }

    @Test
    void a_standby_behind_the_address_is_found() throws Exception {
        try (OwnPostgres primary = new OwnPostgres();
                OwnPostgres standby = primary.newStandby();
                RoundRobin both = new RoundRobin(primary.port(), standby.port())) {
            assertThat(look(primary.url().replace(":" + primary.port(), ":" + both.port())))
                    .anyMatch(broken("primary server"))
                    .anyMatch(broken("one server"));
        }
    }

    @Test
    void a_replica_behind_the_address_is_found() throws Exception {
        try (OwnRedis master = new OwnRedis();
                OwnRedis replica = new OwnRedis();
                RoundRobin both = new RoundRobin(master.port(), replica.port())) {
            replica.follow(master);

            assertThat(look("redis://127.0.0.1:" + both.port()))
                    .anyMatch(broken("primary server"))
                    .anyMatch(broken("one server"));
        }
    }

    @Test
    void two_masters_behind_the_address_are_found() throws Exception {
        try (OwnRedis one = new OwnRedis();
                OwnRedis other = new OwnRedis();
                RoundRobin both = new RoundRobin(one.port(), other.port())) {
            assertThat(look("redis://127.0.0.1:" + both.port()))
                    .noneMatch(broken("primary server"))
                    .anyMatch(broken("one server"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-lru", "allkeys-random", "volatile-ttl"})
    void a_redis_that_deletes_keys_is_found(String policy) {
        try (OwnRedis evicting = new OwnRedis("maxmemory 50mb", "maxmemory-policy " + policy)) {
            assertThat(look(evicting.url())).anyMatch(broken("no lease vanishes"));
        }
    }

    @Test
    void a_node_of_a_cluster_that_deletes_keys_is_found() {
        try (OwnRedisCluster cluster = new OwnRedisCluster()) {
            cluster.nodes().get(2).commands().configSet("maxmemory-policy", "allkeys-lru");

            assertThat(look("redis-cluster://127.0.0.1:"
                            + cluster.nodes().get(0).port()))
                    .anyMatch(broken("no lease vanishes"));
        }
    }

    @Test
    void a_user_with_the_channels_of_the_check_gets_wake_ups() {
        try (OwnRedis guarded = new OwnRedis("user app on nopass resetchannels ~* &{syncguard_check_* +@all -config")) {
            assertThat(look(guarded.url("app", "any")))
                    .anyMatch(finding -> finding.verdict() == Verdict.HOLDS
                            && finding.subject().equals("wake-ups"))
                    .noneMatch(finding -> finding.text().contains("?"));
        }
    }

    @Test
    void a_function_that_hides_one_of_the_server_is_found() {
        String url = PostgresServer.newDatabaseUrl();
        new JdbcTemplate(PostgresServer.dataSource(url))
                .execute("CREATE FUNCTION public.now(TEXT) RETURNS TEXT LANGUAGE sql AS 'SELECT $1'");

        assertThat(look(url))
                .anyMatch(finding -> finding.verdict() == Verdict.WARNING
                        && finding.evidence().contains("public.now"));
    }

    @Test
    void a_pooler_is_found() {
        PgBouncer.assumeInstalled();
        String url = PostgresServer.newDatabaseUrl();
        try (PgBouncer pooler = PgBouncer.poolingTransactions(url)) {
            assertThat(look(pooler.url(url)))
                    .anyMatch(finding -> finding.verdict() == Verdict.WARNING
                            && finding.subject().equals("pooler"));
        }
    }

    @Test
    void missing_rights_are_named_as_grants() {
        String url = PostgresServer.newDatabaseUrl();
        JdbcTemplate owner = new JdbcTemplate(PostgresServer.dataSource(url));
        String role = "look_" + UUID.randomUUID().toString().substring(0, 8);
        owner.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        owner.execute("CREATE TABLE syncguard_locks (key TEXT)");
        owner.execute("GRANT SELECT ON syncguard_locks TO " + role);
        owner.execute("CREATE SCHEMA locking CREATE TABLE syncguard_fence_counters (key TEXT)");
        try (Server server = Address.connect(url.replaceFirst("user=[^&]*", "user=" + role), role, "secret")) {
            assertThat(server.look())
                    .anyMatch(finding -> finding.subject().equals("rights")
                            && finding.advice().contains("GRANT INSERT, UPDATE, DELETE ON syncguard_locks TO " + role)
                            && finding.advice().contains("GRANT USAGE ON SCHEMA locking TO " + role)
                            && finding.advice()
                                    .contains("GRANT SELECT, INSERT, UPDATE ON"
                                            + " locking.syncguard_fence_counters TO " + role));
        }
    }

    private static Predicate<Finding> broken(String subject) {
        return finding ->
                finding.verdict() == Verdict.BROKEN && finding.subject().equals(subject);
    }

    private static List<Finding> look(String url) {
        try (Server server = Address.connect(url, "", "")) {
            return server.look();
        }
    }
}
