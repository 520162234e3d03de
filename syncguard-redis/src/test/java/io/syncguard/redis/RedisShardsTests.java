package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.cluster.SlotHash;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which shard a lock is in, which slots the shards have, and what a lock id says of it. */
class RedisShardsTests {

    private static final String PREFIX = "{syncguard}:";
    private static final int SLOTS = 16_384;

    private final SecureRandom random = new SecureRandom();

    @Test
    void one_shard_changes_neither_keys_nor_lock_ids() {
        RedisShards shards = new RedisShards("syncguard:", 1);
        String lockId = randomLockId();

        assertThat(shards.ofName("order:42").prefix()).isEqualTo("syncguard:");
        assertThat(shards.lockIdIn(shards.ofName("order:42"), lockId)).isEqualTo(lockId);
        assertThat(shards.ofLockId(lockId)).isSameAs(shards.ofName("order:42"));
    }

    /** Other tags, or another shard for a key, would be locks that nobody finds and fences that begin again. */
    @Test
    void where_a_key_is_never_changes() {
        RedisShards shards = new RedisShards(PREFIX, 4);

        assertThat(prefixes(shards))
                .containsExactly("{syncguard#33}:", "{syncguard#32}:", "{syncguard#31}:", "{syncguard#30}:");
        // As zlib.crc32(b'order:42') % 4 in Python.
        assertThat(Stream.of("order:42", "order:43", "order:44", "order:45", "straße")
                        .map(name -> shards.ofName(name).number()))
                .containsExactly(3, 1, 2, 0, 1);
        assertThat(new RedisShards("app:{x}:{y}:", 2).ofName("order:42").prefix())
                .isEqualTo("app:{x#22}:{y}:");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 16, 64, 100, 1000, 1024})
    void each_shard_has_its_own_equal_part_of_the_slots(int count) {
        for (String prefix : List.of(PREFIX, "{a}:", "orders:{eu-west-1}:", "{" + "p".repeat(300) + "}:")) {
            List<Integer> parts = prefixes(new RedisShards(prefix, count)).stream()
                    .map(each -> SlotHash.getSlot(each + "lock:order:42") * count / SLOTS)
                    .toList();

            assertThat(parts).isEqualTo(IntStream.range(0, count).boxed().toList());
        }
    }

    /** The masters have equal ranges of slots, as {@code redis-cli --cluster create} divides them. */
    @ParameterizedTest
    @CsvSource({"3, 3, 1, 1", "4, 3, 1, 2", "4, 2, 2, 2", "16, 3, 5, 6", "64, 3, 21, 22", "64, 5, 12, 13"})
    void masters_share_the_shards(int count, int masters, int fewest, int most) {
        int[] shardsOf = new int[masters];
        prefixes(new RedisShards(PREFIX, count))
                .forEach(prefix -> shardsOf[SlotHash.getSlot(prefix) * masters / SLOTS]++);

        assertThat(shardsOf)
                .satisfies(counts -> assertThat(Arrays.stream(counts))
                        .allSatisfy(each -> assertThat(each).isBetween(fewest, most)));
    }

    @Test
    void shards_share_the_keys() {
        assertShared(i -> "order:" + i);
        assertShared(i -> "customer:" + i * 64 + ":invoice");
        assertShared(i -> "{same tag}" + i);
        assertShared(i -> randomLockId());
    }

    private static void assertShared(IntFunction<String> names) {
        RedisShards shards = new RedisShards(PREFIX, 64);
        int[] keysOf = new int[64];
        IntStream.range(0, 64_000)
                .forEach(i -> keysOf[shards.ofName(names.apply(i)).number()]++);

        assertThat(Arrays.stream(keysOf)).allSatisfy(keys -> assertThat(keys).isBetween(700, 1300));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 1000, 1024})
    void ten_thousand_lock_ids_of_one_key_have_its_shard_and_differ(int count) {
        RedisShards shards = new RedisShards(PREFIX, count);
        RedisShard shard = shards.ofName("order:42");
        Set<String> lockIds = Stream.generate(() -> shards.lockIdIn(shard, randomLockId()))
                .limit(10_000)
                .map(LockLimits::lockId)
                .collect(Collectors.toSet());

        assertThat(lockIds).hasSize(10_000);
        assertThat(lockIds.stream().allMatch(lockId -> shards.ofLockId(lockId) == shard))
                .isTrue();
    }

    @Test
    void every_bit_of_a_lock_id_but_the_first_ten_stays_as_random_as_it_was() {
        RedisShards shards = new RedisShards(PREFIX, 1024);
        for (int number = 0; number < 1024; number++) {
            String lockId = randomLockId();
            RedisShard shard = new RedisShard(number, "any");

            byte[] expected = Base64.getUrlDecoder().decode(lockId);
            expected[0] = (byte) (number >> 2);
            expected[1] = (byte) (number << 6 | expected[1] & 0x3f);

            assertThat(Base64.getUrlDecoder().decode(shards.lockIdIn(shard, lockId)))
                    .isEqualTo(expected);
        }
    }

    @Test
    void a_lock_id_of_a_shard_that_does_not_exist_has_none() {
        RedisShards four = new RedisShards(PREFIX, 4);
        RedisShards more = new RedisShards(PREFIX, 5);
        String random = randomLockId();

        assertThat(four.ofLockId(more.lockIdIn(new RedisShard(3, "any"), random)))
                .isNotNull();
        assertThat(four.ofLockId(more.lockIdIn(new RedisShard(4, "any"), random)))
                .isNull();
        assertThat(four.ofLockId("_".repeat(22))).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 1025, Integer.MAX_VALUE})
    void a_number_of_shards_outside_of_the_limits_is_refused(int count) {
        assertRefused(PREFIX, count, "syncguard.redis.shards is " + count + ", but has to be between 1 and 1024");
    }

    @Test
    void several_shards_need_a_hash_tag_of_which_they_can_have_variants() {
        assertRefused("syncguard:", 2, "with syncguard.redis.shards=2 it has to contain a hash tag");
        assertRefused("{}:", 2, "with syncguard.redis.shards=2 it has to contain a hash tag");
    }

    private static void assertRefused(String prefix, int count, String message) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> new RedisSettings(
                        prefix,
                        Duration.ofSeconds(2),
                        RedisSettings.WAITER_TTL,
                        count,
                        FenceSettings.from(FenceSource.CLOCK)))
                .withMessageContaining(message)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    private static List<String> prefixes(RedisShards shards) {
        return shards.all().stream().map(RedisShard::prefix).toList();
    }

    private String randomLockId() {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
