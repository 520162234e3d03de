package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.core.LockListContract;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisLockListTests extends LockListContract {

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore();

    /** Redis passes 500 of them in a step. */
    @Test
    void locks_are_found_among_many_other_keys() {
        Map<String, String> others = IntStream.range(0, 11_000)
                .boxed()
                .collect(Collectors.toMap(i -> store.key("fence", "other " + i), String::valueOf));
        store.redis().opsForValue().multiSet(others);
        List<String> keys = IntStream.range(0, 50)
                .mapToObj(n -> String.format(Locale.ROOT, "key:%02d", n))
                .toList();
        keys.forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));
        try {
            assertThat(keys(backend())).containsExactlyElementsOf(keys);
        } finally {
            store.redis().delete(others.keySet());
        }
    }

    /** Characters that a pattern of Redis understands, and a prefix that leaves no room for the keys as they are. */
    @ParameterizedTest
    @ValueSource(strings = {"[a]", "?", "*", "\\", "ppppppppppppppppppp"})
    void a_prefix_may_have_any_characters_and_any_length(String repeated) {
        String prefix = RedisServer.newPrefix() + repeated.repeat(25) + ":";
        String key = "k".repeat(500);
        try (StoreCalls another = backendWith(prefix);
                StoreCalls stranger = backendWith(prefix.replace(repeated, "a"))) {
            granted(another, request(key, LockMode.EXCLUSIVE, TTL));
            granted(stranger, request("stranger", LockMode.EXCLUSIVE, TTL));

            assertThat(keys(another)).containsExactly(key);
        }
    }

    /** The clock of the server goes on, so the test tries until it meets the second after the end. */
    @Test
    void a_lease_is_shown_until_its_tolerance_is_over() {
        Awaitility.await().until(() -> {
            AcquireRequest holder = held(request(UUID.randomUUID().toString(), LockMode.EXCLUSIVE, TTL));
            extend(holder, Duration.ofMillis(1));
            return isShownAfterItsEnd(holder.key());
        });
    }

    private boolean isShownAfterItsEnd(String key) {
        return IntStream.range(0, 100)
                .mapToObj(i -> backend().status(key))
                .flatMap(Optional::stream)
                .anyMatch(lock -> lock.holders().get(0).expiresAt().isBefore(lock.at()));
    }

    /** The name of a long key is its hash, which a short key may look like. */
    @ParameterizedTest
    @ValueSource(strings = {"EXCLUSIVE", "SHARED", "WAITING"})
    void a_key_whose_name_is_or_looks_like_a_hash_is_listed_as_it_is(String how) {
        List<String> keys = List.of("-".repeat(22), "k".repeat(LockLimits.MAX_KEY_BYTES), "z".repeat(22));
        try (StoreCalls another = backendWith(RedisServer.newPrefix() + "p".repeat(500) + ":")) {
            for (String key : keys) {
                granted(another, request(key, how.equals("SHARED") ? LockMode.SHARED : LockMode.EXCLUSIVE, TTL));
                if (how.equals("WAITING")) {
                    queued(another, waiting(request(key, LockMode.EXCLUSIVE, TTL)));
                    another.forceRelease(key);
                }
            }

            assertThat(keys(another)).containsExactlyElementsOf(keys);
        }
    }

    @Test
    void a_lease_of_which_redis_has_lost_a_part_is_not_shown() {
        AcquireRequest evicted = held(reader());
        held(reader());
        store.redis().opsForHash().delete(store.key("shared", KEY), evicted.lockId());

        assertThat(backend().status(KEY).orElseThrow().holders()).hasSize(1);
        assertThat(backend().list(LockQuery.all()).locks()).hasSize(1);
    }

    private static StoreCalls backendWith(String prefix) {
        return new StoreCalls(new RedisLockBackend(
                RedisServer.connections(RedisServer.url()),
                new RedisSettings(
                        prefix,
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(1),
                        1,
                        FenceSettings.from(FenceSource.CLOCK))));
    }

    private static List<String> keys(StoreCalls backend) {
        return backend.list(LockQuery.all().limit(LockQuery.MAX_LIMIT)).locks().stream()
                .map(LockStatus::key)
                .toList();
    }
}
