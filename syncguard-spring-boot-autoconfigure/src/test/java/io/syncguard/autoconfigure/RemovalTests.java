package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.api.sync.RedisCommands;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.SortedAutoConfigurations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The recipe in {@code docs/run.md} leaves nothing of the library behind, and the application starts without it.
 */
class RemovalTests {

    private static final LockRequest ORDER = LockRequest.of("order", "a b\nc");

    @ParameterizedTest
    @ValueSource(strings = {"auto", "flyway"})
    void on_postgresql(String schemaManagement) throws IOException {
        TestDatabase database = TestDatabase.empty();
        Applications.withFlyway(database.url())
                .withPropertyValues("syncguard.postgres.schema-management=" + schemaManagement)
                .withPropertyValues("syncguard.fencing.enabled=true")
                .withPropertyValues("syncguard.fencing.schema-management=" + schemaManagement)
                .run(RemovalTests::lock);
        assertThat(database.relationsAndFunctions()).anyMatch(name -> name.startsWith("syncguard"));

        remove(database.jdbc(), "postgresql", "fences", "flyway");

        assertThat(database.relationsAndFunctions()).noneMatch(name -> name.startsWith("syncguard"));
        assertThat(database.jdbc().queryForList("SELECT typname FROM pg_type WHERE typname LIKE 'syncguard%'"))
                .isEmpty();
        assertStartsWithout(database.url());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "h2", "postgresql"})
    void in_tables_of(String product) throws IOException {
        String url = product.equals("mariadb")
                ? MariaDbServer.newDatabaseUrl()
                : product.equals("h2")
                        ? "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"
                        : TestDatabase.empty().url();
        Applications.withFlyway(url)
                .withPropertyValues("syncguard.backend=jdbc", "syncguard.jdbc.schema-management=flyway")
                .withPropertyValues("syncguard.fencing.enabled=true", "syncguard.fencing.schema-management=flyway")
                .run(RemovalTests::lock);
        JdbcTemplate jdbc = new JdbcTemplate(
                product.equals("h2") ? new DriverManagerDataSource(url, "sa", "") : new DriverManagerDataSource(url));
        assertThat(ownTables(jdbc)).hasSize(4);

        remove(jdbc, "jdbc", "fences");
        String flyway = statements("flyway");
        jdbc.execute(
                product.equals("h2") ? flyway.replaceAll("\\b(flyway_schema_history|script)\\b", "\"$1\"") : flyway);

        assertThat(ownTables(jdbc)).isEmpty();
        assertStartsWithout(url);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void on_redis(int shards) throws IOException {
        try (OwnRedis redis = new OwnRedis()) {
            redis.commands().set("{syncguard2}:of another", "stays");
            Applications.withoutBoot()
                    .withPropertyValues("syncguard.backend=redis", "syncguard.redis.shards=" + shards)
                    .withBean(LettuceConnectionFactory.class, () -> RedisServer.connections(redis.url()))
                    .run(RemovalTests::lock);
            assertThat(redis.commands().keys("{syncguard*")).hasSizeGreaterThan(2);

            unlink(redis.commands(), statements("redis"));

            assertThat(redis.commands().keys("*")).containsExactly("{syncguard2}:of another");
        }
    }

    @Test
    void on_each_master_of_a_redis_cluster() throws IOException {
        try (OwnRedisCluster cluster = new OwnRedisCluster()) {
            Applications.withoutBoot()
                    .withPropertyValues("syncguard.backend=redis", "syncguard.redis.shards=16")
                    .withBean(LettuceConnectionFactory.class, cluster::connections)
                    .run(application -> IntStream.range(0, 50)
                            .forEach(number -> lock(application, LockRequest.of("order", String.valueOf(number)))));
            String command = statements("redis-cluster");
            assertThat(cluster.nodes())
                    .allMatch(node -> node.commands().keys("{syncguard*").size() > 2);

            for (OwnRedis node : cluster.nodes()) {
                unlink(node.commands(), command);
            }

            assertThat(cluster.nodes())
                    .allMatch(node -> node.commands().keys("*").isEmpty());
        }
    }

    private static void lock(AssertableApplicationContext application) {
        lock(application, ORDER);
    }

    private static void lock(AssertableApplicationContext application, LockRequest request) {
        assertThat(application).hasNotFailed();
        assertThat(application
                        .getBean(LockTemplate.class)
                        .<Boolean, RuntimeException>execute(request, lock -> lock.isHeld()))
                .isTrue();
    }

    private static void assertStartsWithout(String url) {
        new ApplicationContextRunner()
                .withConfiguration(
                        SortedAutoConfigurations.of(DataSourceAutoConfiguration.class, FlywayAutoConfiguration.class))
                .withPropertyValues("spring.datasource.url=" + url, "spring.flyway.locations=classpath:db/orders")
                .run(without -> assertThat(without).hasNotFailed());
    }

    private static List<String> ownTables(JdbcTemplate jdbc) {
        return jdbc.execute((ConnectionCallback<List<String>>) connection -> {
            List<String> names = new ArrayList<>();
            try (ResultSet tables = connection
                    .getMetaData()
                    .getTables(connection.getCatalog(), connection.getSchema(), "%", new String[] {"TABLE", "BASE TABLE"
                    })) {
                while (tables.next()) {
                    names.add(tables.getString("TABLE_NAME").toLowerCase(Locale.ROOT));
                }
            }
            names.removeIf(name -> !name.startsWith("syncguard"));
            return names;
        });
    }

    private static void remove(JdbcTemplate jdbc, String... parts) throws IOException {
        for (String part : parts) {
            jdbc.execute(statements(part));
        }
    }

    /** Does what the command does: it scans, and deletes so many keys with each {@code UNLINK}. */
    private static void unlink(RedisCommands<String, String> redis, String command) {
        int keys = Integer.parseInt(wordAfter("-n ", command));
        List<String> found =
                ScanIterator.scan(redis, ScanArgs.Builder.matches(wordAfter("--pattern ", command))).stream()
                        .toList();
        for (int from = 0; from < found.size(); from += keys) {
            redis.unlink(
                    found.subList(from, Math.min(from + keys, found.size())).toArray(String[]::new));
        }
    }

    private static String wordAfter(String option, String command) {
        Matcher word = Pattern.compile(Pattern.quote(option) + "'?([^\\s']+)").matcher(command);
        assertThat(word.find()).isTrue();
        return word.group(1);
    }

    /** The block after this mark. */
    private static String statements(String mark) throws IOException {
        String page = Files.readString(Path.of("../docs/run.md")).replace("\r", "");
        String block = page.substring(page.indexOf("<!-- removal: " + mark + " -->"));
        return block.substring(
                block.indexOf("\n", block.indexOf("```")) + 1, block.indexOf("\n```\n", block.indexOf("```") + 3));
    }
}
