package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What scripts do with the keys that they declare, and with others. */
class RedisScriptWatchTests {

    private static OwnRedis redis;

    private RedisScriptWatch watch;

    @BeforeAll
    static void startServer() {
        redis = new OwnRedis();
    }

    @AfterAll
    static void stopServer() {
        redis.close();
    }

    @BeforeEach
    void watch() {
        redis.commands().flushall();
        watch = new RedisScriptWatch(redis.url());
        watch.watch("{p}:");
    }

    @AfterEach
    void close() {
        watch.close();
    }

    /** Each script declares {p}:a and {p}:b. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "return redis.call('GET', KEYS[1])                                | -",
                "return redis.call('MSET', KEYS[1], '{p}:value', KEYS[2], 'v')    | -",
                "return redis.call('DEL', KEYS[1], KEYS[2])                       | -",
                "return redis.call('TIME')                                        | -",
                "return redis.call('PUBLISH', '{p}:wake:1', '{p}:message')        | -",
                "return redis.call('ZUNIONSTORE', KEYS[1], 1, KEYS[2])            | -",
                "return redis.call('OBJECT', 'ENCODING', KEYS[1])                 | -",
                "return redis.pcall('GET', '{p}:c')                               | GET {p}:c",
                "return redis.call('EXISTS', KEYS[1], '{p}:c', KEYS[2])           | EXISTS {p}:c",
                "return redis.call('MSET', KEYS[1], 'v', '{p}:c', 'v')            | MSET {p}:c",
                "return redis.call('ZUNIONSTORE', KEYS[1], 1, '{p}:c')            | ZUNIONSTORE {p}:c",
                "return redis.call('OBJECT', 'ENCODING', '{p}:c')                 | OBJECT {p}:c",
                "return redis.call('SORT', KEYS[1], 'STORE', '{p}:c')             | SORT {p}:c",
                "return redis.call('SCAN', 0, 'MATCH', '{p}:*')                   | SCAN (any key)",
                "return redis.call('KEYS', '{p}:*')                               | KEYS (any key)",
                "return redis.call('RANDOMKEY')                                   | RANDOMKEY (any key)",
                "redis.call('GET', KEYS[1]); return redis.call('GET', '{p}#1:c')  | GET {p}#1:c",
            })
    void a_key_that_a_script_has_not_declared_is_found(String script, String found) {
        run(redis, script, "{p}:a", "{p}:b");

        if (found == null) {
            assertThat(watch.undeclared()).isEmpty();
        } else {
            assertThat(watch.undeclared()).containsExactly(found);
            assertThat(watch.undeclared()).as("once").isEmpty();
        }
    }

    @Test
    void a_script_may_declare_no_key() {
        run(redis, "return redis.call('GET', '{p}:c')");

        assertThat(watch.undeclared()).containsExactly("GET {p}:c");
    }

    @Test
    void keys_may_have_any_characters() {
        String key = "{p}:\" \\ \n \0 \u00e9 ] [0 lua] \"GET\"";
        run(redis, "return redis.call('GET', KEYS[1])", key);
        assertThat(watch.undeclared()).isEmpty();

        run(redis, "return redis.call('GET', KEYS[1] .. 'x')", key);
        assertThat(watch.undeclared()).hasSize(1);
    }

    @Test
    void a_known_script_is_found_by_its_digest() {
        String digest = redis.commands().scriptLoad("return redis.call('GET', KEYS[1] .. 'x')");
        redis.commands().evalsha(digest, ScriptOutputType.VALUE, "{p}:a");

        assertThat(watch.undeclared()).containsExactly("GET {p}:ax");
    }

    @Test
    void scripts_of_other_prefixes_are_their_own_affair() {
        run(redis, "return redis.call('GET', '{pp}:c')", "{pp}:a");

        assertThat(watch.undeclared()).isEmpty();
    }

    @Test
    void each_script_has_its_own_keys_however_many_connections_there_are() {
        try (var client = RedisClient.create(redis.url())) {
            var connections = IntStream.range(0, 4)
                    .mapToObj(i -> client.connect().async())
                    .toList();
            var replies = IntStream.range(0, 400)
                    .mapToObj(i -> connections
                            .get(i % 4)
                            .eval(
                                    "return redis.call('GET', KEYS[1]) or redis.call('GET', ARGV[1])",
                                    ScriptOutputType.VALUE,
                                    new String[] {"{p}:" + i},
                                    "{p}:" + (i == 200 ? 201 : i)))
                    .toList();
            replies.forEach(reply -> reply.toCompletableFuture().join());
        }

        assertThat(watch.undeclared()).containsExactly("GET {p}:201");
    }

    @Test
    void a_contract_test_fails_whose_scripts_touch_what_they_have_not_declared() {
        try (RedisContractStore store = new RedisContractStore()) {
            String other = store.key("lock", "other");
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> {
                        store.redis()
                                .execute(
                                        script("return redis.call('GET', ARGV[1])"),
                                        List.of(store.key("lock", "a")),
                                        other);
                        store.afterEach(null);
                    })
                    .withMessageContaining("GET " + other);
        }
    }

    @Test
    @Tag("verification")
    void in_a_cluster_the_scripts_of_each_node_are_watched() {
        OwnRedisCluster cluster = new OwnRedisCluster();
        try (RedisContractStore store = new RedisContractStore(cluster, 4, RedisBatching.AUTO)) {
            for (OwnRedis node : cluster.nodes()) {
                String key = IntStream.iterate(0, i -> i + 1)
                        .mapToObj(i -> store.key("lock", "key:" + i))
                        .filter(name -> cluster.serves(node, name))
                        .findFirst()
                        .orElseThrow();
                run(node, "return redis.call('GET', KEYS[1] .. 'x')", key);
                assertThatExceptionOfType(AssertionError.class)
                        .isThrownBy(() -> store.afterEach(null))
                        .withMessageContaining("GET " + key + "x");
            }
        }
    }

    private static void run(OwnRedis server, String script, String... keys) {
        server.commands().eval(script, ScriptOutputType.MULTI, keys);
    }

    private static org.springframework.data.redis.core.script.RedisScript<String> script(String text) {
        return org.springframework.data.redis.core.script.RedisScript.of(text, String.class);
    }
}
