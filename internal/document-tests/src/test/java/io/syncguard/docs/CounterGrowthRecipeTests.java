package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.DistributedLock;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.RedisLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.FenceSettings;
import io.syncguard.testing.SortedAutoConfigurations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The statements, commands and samples of "Counter growth" in docs/capacity.md, run on real servers. */
@Timeout(60)
class CounterGrowthRecipeTests {

    private static final Path RESOURCES = Path.of("src/test/resources/io/syncguard/docs");

    private final RecipeInstances counting =
            new RecipeInstances(Application.class, "SELECT 1", "syncguard.fences=counter");

    @Test
    void the_number_of_counters_and_their_growth_are_shown_without_reading_them() {
        counting.run((one, two) -> {
            lock("'order:' || n", 1000);

            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(
                                    rows(counting, "counter-size").get(0))
                            .containsEntry("counters", 1000L)
                            .containsEntry("growth", 1000L)
                            .hasEntrySatisfying(
                                    "table_size",
                                    size -> assertThat((String) size).endsWith(" kB"))
                            .hasEntrySatisfying(
                                    "index_size",
                                    size -> assertThat((String) size).endsWith(" kB")));
        });
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {"'order:' || n, 150", "'payment:' || gen_random_uuid(), 300"})
    void a_counter_takes_as_many_bytes_as_the_page_says(String key, double bytes) {
        counting.run((one, two) -> {
            lock(key, 20_000);
            double size = counting.database.queryForObject(
                    "SELECT pg_table_size(t) + pg_indexes_size(t) FROM to_regclass('syncguard_fence_counters') t",
                    Double.class);

            assertThat(size / 20_000).isCloseTo(bytes, withinPercentage(10));
        });
    }

    @Test
    void the_names_with_the_most_counters_come_first() {
        counting.run((one, two) -> {
            lock("'order:' || n", 20);
            Stock stock = one.getBean(Stock.class);
            IntStream.range(0, 3).forEach(i -> stock.reserve("apple"));

            assertThat(rows(counting, "counter-names"))
                    .containsExactly(
                            Map.of("name", "order", "counters", 20L, "largest_fence", 1L),
                            Map.of("name", "stock", "counters", 1L, "largest_fence", 3L));
            // The comment in the sample says this for a large table.
            counting.database.queryForList(
                    sample("counter-growth.sql", "counter-names").replaceFirst("-- .*: (.*),.*", "$1"));
        });
    }

    @Test
    void a_key_per_bucket_leaves_no_more_counters_than_buckets() {
        counting.run((one, two) -> {
            Stock stock = one.getBean(Stock.class);
            IntStream.range(0, 300).forEach(i -> stock.ship("parcel-" + i));

            assertThat(counting.count("syncguard_fence_counters")).isBetween(150L, 256L);
        });
    }

    @Test
    void counters_in_redis_are_found_without_keys() {
        try (OwnRedis redis = new OwnRedis()) {
            new ApplicationContextRunner()
                    .withConfiguration(SortedAutoConfigurations.of(
                            AopAutoConfiguration.class,
                            DataRedisAutoConfiguration.class,
                            RedisLockAutoConfiguration.class,
                            SyncGuardAutoConfiguration.class))
                    .withPropertyValues("spring.data.redis.url=" + redis.url())
                    .run(context -> {
                        LockTemplate locks = context.getBean(LockTemplate.class);
                        locks.executeWithoutResult(LockRequest.of("order:42"), lock -> {});
                        locks.executeWithoutResult(LockRequest.of("order:43"), lock -> {});
                        List<String> commands = sample("counter-growth.redis", "counter-redis")
                                .lines()
                                .toList();

                        assertThat(answer(redis, commands.get(0)))
                                .element(1)
                                .asInstanceOf(LIST)
                                .containsExactlyInAnyOrder(
                                        "{syncguard}:fence:order:42",
                                        "{syncguard}:fence:order:43",
                                        "{syncguard}:fence:syncguard:health");
                        assertThat((Long) answer(redis, commands.get(1)).get(0)).isBetween(60L, 150L);
                        assertThat((Long) answer(redis, commands.get(2)).get(0))
                                .isBetween(
                                        FenceSettings.RETENTION.minusMinutes(5).toMillis(),
                                        FenceSettings.RETENTION.toMillis());
                        assertThat(answer(redis, commands.get(3)).toString()).contains("db0:keys=");
                        assertThat(commands).hasSize(4);
                    });
        }
    }

    /** @param key SQL of the n-th key */
    private void lock(String key, int keys) {
        counting.database.queryForList(
                "SELECT syncguard_locks_acquire_free(" + key
                        + ", 'id' || n, 60000, 'test') FROM generate_series(1000001, 1000000 + ?) n",
                keys);
        counting.database.execute("DELETE FROM syncguard_locks");
    }

    private static List<Map<String, Object>> rows(RecipeInstances instances, String sample) {
        return instances.database.queryForList(sample("counter-growth.sql", sample));
    }

    private static List<Object> answer(OwnRedis redis, String command) {
        List<String> words = List.of(command.split(" "));
        return redis.commands()
                .dispatch(
                        CommandType.valueOf(words.get(0)),
                        new ArrayOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8).addValues(words.subList(1, words.size())));
    }

    private static String sample(String file, String name) {
        try {
            Matcher sample = Pattern.compile("(?s)(--|#) sample: " + name + "\\R(.*?)\\R\\1 end")
                    .matcher(Files.readString(RESOURCES.resolve(file)));
            assertThat(sample.find()).as(name).isTrue();
            return sample.group(2);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Stock.class)
    static class Application {}

    static class Stock {

        @DistributedLock(name = "stock", key = "#item")
        public void reserve(String item) {}

        @DistributedLock(name = "parcel", key = "T(Math).floorMod(#parcelId.hashCode(), 256)")
        public void ship(String parcelId) {
            // 256 counters for ever, however many parcels
        }
    }
}
