package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.core.ContractFixture;
import io.syncguard.core.Requests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import io.syncguard.spi.StorageKeys;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * What is in Redis: when each key expires, what is written and read, and how one step clears away thousands of dead
 * leases or waiters.
 */
class RedisKeysTests extends ContractFixture {

    private static final long RETENTION = FenceSettings.RETENTION.toMillis();

    /** A fence that the clock reaches in the year 2160. */
    private static final long AHEAD = 600_000_000_000_000L;

    /** Redis before version 7 cannot report when a key expires, only how much time is left. */
    private static final DefaultRedisScript<Long> EXPIRY = new DefaultRedisScript<>("""
            local time = redis.call('TIME')
            return time[1] * 1000 + math.floor(time[2] / 1000) + redis.call('PTTL', KEYS[1])
            """, Long.class);

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore();

    @Test
    void a_lease_and_its_id_expire_together_one_tolerance_after_its_end() {
        AcquireRequest writer = held(writer());

        assertExpiresAt(store.key("lock", KEY), end(writer) + LockBackend.TOLERANCE_MILLIS);
        assertExpiresAt(store.key("id", writer.lockId()), end(writer) + LockBackend.TOLERANCE_MILLIS);
    }

    @Test
    void an_extension_moves_both() {
        AcquireRequest writer = held(writer());

        extend(writer, Duration.ofMinutes(1));

        assertExpiresAt(store.key("lock", KEY), end(writer) + LockBackend.TOLERANCE_MILLIS);
        assertExpiresAt(store.key("id", writer.lockId()), end(writer) + LockBackend.TOLERANCE_MILLIS);
    }

    @Test
    void readers_are_kept_until_the_last_of_them_is_over() {
        AcquireRequest last = held(reader(Duration.ofHours(2)));
        AcquireRequest brief = held(reader(Duration.ofMinutes(1)));
        extend(brief, Duration.ofMillis(1));

        assertExpiresAt(store.key("readers", KEY), end(last) + LockBackend.TOLERANCE_MILLIS);
    }

    @Test
    void a_counter_expires_one_retention_after_the_time_of_its_fence() {
        AcquireRequest writer = held(writer());
        assertExpiresAt(store.key("fence", KEY), store.storedFence(KEY) / 100 + RETENTION);
        release(writer);
        store.drawnUpTo(KEY, AHEAD);

        held(writer());

        assertExpiresAt(store.key("fence", KEY), AHEAD / 100 + RETENTION);
    }

    @Test
    void a_holder_whose_counter_was_evicted_takes_a_larger_fence_even_in_the_same_millisecond() {
        AcquireRequest writer = writer();
        Fence last = granted(writer).fence();
        for (int i = 0; i < 200; i++) {
            store.redis().delete(store.key("fence", KEY));

            Fence next = ((ExtendResult.Rotated) rotate(writer, TTL)).fence();

            assertThat(next).isGreaterThan(last);
            last = next;
        }
    }

    @Test
    void a_counter_outlives_a_lease_that_is_longer_than_its_retention() {
        AcquireRequest writer = held(writer(Duration.ofDays(30)));
        assertExpiresAt(store.key("fence", KEY), end(writer) + RETENTION);

        extend(writer, Duration.ofDays(60));
        assertExpiresAt(store.key("fence", KEY), end(writer) + RETENTION);
    }

    @Test
    void a_counter_outlives_the_longest_of_its_readers() {
        AcquireRequest longest = held(reader(Duration.ofDays(60)));
        AcquireRequest last = held(reader(Duration.ofDays(30)));

        extend(last, Duration.ofDays(40));

        assertExpiresAt(store.key("fence", KEY), end(longest) + RETENTION);
    }

    @Test
    void a_counter_outlives_a_long_reader_behind_which_a_short_one_enters() {
        AcquireRequest longest = held(reader(Duration.ofDays(60)));

        held(reader());

        assertExpiresAt(store.key("fence", KEY), end(longest) + RETENTION);
    }

    @Test
    void a_counter_outlives_a_long_lease_that_takes_the_next_fence() {
        AcquireRequest writer = held(writer());

        rotate(writer, Duration.ofDays(30));

        assertExpiresAt(store.key("fence", KEY), end(writer) + RETENTION);
    }

    @Test
    void a_counter_outlives_a_lease_that_extensions_keep_for_longer_than_its_retention() {
        AcquireRequest writer = held(writer());
        extend(writer, TTL);
        assertExpiresAt(store.key("fence", KEY), store.storedFence(KEY) / 100 + RETENTION);
        String longAgo = String.valueOf(end(writer) - RETENTION);
        String lock = store.key("lock", KEY);
        // Lock id, end and start.
        String lease = store.redis().opsForValue().get(lock).replaceFirst("( \\d+) \\d+", "$1 " + longAgo);
        store.redis().opsForValue().set(lock, lease);

        extend(writer, TTL);

        assertExpiresAt(store.key("fence", KEY), end(writer) + RETENTION);
    }

    @Test
    void a_counter_that_is_far_ahead_of_the_clock_keeps_its_expiry_under_a_long_lease() {
        AcquireRequest writer = held(writer());
        store.drawnUpTo(KEY, AHEAD);

        extend(writer, Duration.ofDays(30));

        assertExpiresAt(store.key("fence", KEY), AHEAD / 100 + RETENTION);
    }

    @Test
    void queue_entries_expire_one_waiter_ttl_after_the_last_of_them_at_the_latest() {
        held(writer());
        queuedReader();
        AcquireRequest last = queuedWriter();

        long end = queueEntryEnd(last);
        for (String part : List.of("queue", "waiting", "waiters")) {
            assertThat(expiryOf(store.key(part, KEY)))
                    .isBetween(end, end + backend().waiterTtl().toMillis());
        }
    }

    /** A release may make a lease of the entry at its very end, and writes no key of another lock id. */
    @Test
    void the_id_of_a_queue_entry_outlives_the_lease_that_it_may_become() {
        held(writer());
        AcquireRequest waiter = queuedWriter();

        long longest = queueEntryEnd(waiter) + backend().waiterTtl().toMillis() + LockBackend.TOLERANCE_MILLIS;
        assertExpiresAt(store.key("id", waiter.lockId()), longest);
    }

    @Test
    void nothing_is_left_of_a_lease_that_lapsed_but_the_counter() {
        extend(held(writer()), Duration.ofMillis(1));

        Awaitility.await().untilAsserted(() -> assertThat(keys()).containsExactly(store.key("fence", KEY)));
    }

    @Test
    void a_pair_on_a_free_key_is_eight_commands() {
        release(held(writer()));

        assertThat(store.callsOf(() -> release(held(writer()))).values().stream()
                        .mapToInt(calls -> calls)
                        .sum())
                .isEqualTo(8);
    }

    /** Redis evicts or loses keys one by one. */
    @ParameterizedTest
    @ValueSource(strings = {"lock", "fence", "queue", "waiting", "waiters", "id of the holder", "id of the waiter"})
    void a_lost_key_keeps_nobody_from_the_lock_for_longer_than_a_queue_entry(String lost) {
        AcquireRequest holder = held(writer());
        Fence fence = lookup(holder).fence();
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedReader();
        store.redis()
                .delete(
                        switch (lost) {
                            case "id of the holder" -> store.key("id", holder.lockId());
                            case "id of the waiter" -> store.key("id", first.lockId());
                            default -> store.key(lost, KEY);
                        });

        assertThat(backend().isLocked(KEY)).isEqualTo(!lost.equals("lock"));
        assertThat(extend(holder, TTL) instanceof ExtendResult.Extended).isEqualTo(!lost.equals("lock"));
        renewQueueEntry(first);
        renewQueueEntry(second);
        assertThat(backend().release(holder.keyedLockId()).outcome())
                .isEqualTo(lost.equals("lock") ? Outcome.NOT_FOUND : Outcome.RELEASED);
        Fence next = granted(first.fromQueue()).fence();
        queued(second.fromQueue());
        release(first);
        granted(second.fromQueue());
        release(second);

        assertThat(next).isGreaterThan(fence);
        assertThat(backend().isLocked(KEY)).isFalse();
        held(writer());
    }

    @Test
    void a_reader_is_its_expiry_and_needs_no_other_part_to_be_extended_and_released() {
        AcquireRequest reader = held(reader());
        store.redis().delete(List.of(store.key("shared", KEY), store.key("id", reader.lockId())));

        refused(writer());
        assertThat(extend(reader, TTL)).isInstanceOf(ExtendResult.Extended.class);
        release(reader);
        granted(writer());
    }

    @Test
    void a_reader_whose_expiry_is_lost_has_no_lease() {
        AcquireRequest reader = held(reader());
        store.redis().delete(store.key("readers", KEY));

        assertThat(extend(reader, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().release(reader.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        granted(writer());
    }

    @Test
    void an_evicted_queue_leaves_nothing_in_the_way_of_the_next() {
        AcquireRequest holder = held(writer());
        queuedWriter();
        store.redis().delete(store.key("queue", KEY));

        AcquireRequest next = queuedWriter();
        release(holder);

        granted(next.fromQueue());
        release(next);
        granted(writer());
    }

    @Test
    void a_lock_id_alone_is_enough_for_a_second_trip() {
        AcquireRequest writer = held(writer());

        assertThat(elsewhere().lookupById(writer.lockId())).isPresent();
        assertThat(elsewhere().extend(Requests.extension(writer.lockId(), TTL)))
                .isInstanceOf(ExtendResult.Extended.class);
        assertThat(elsewhere().release(writer.lockId())).isEqualTo(ReleaseResult.RELEASED);
        assertThat(elsewhere().release(writer.lockId())).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    @Test
    void a_try_that_is_refused_writes_nothing() {
        held(reader());
        queuedWriter();
        long before = store.changes();

        for (int i = 0; i < 10; i++) {
            refused(writer());
            refused(reader());
        }

        assertThat(store.changes()).isEqualTo(before);
    }

    @Test
    void a_request_that_arrives_twice_is_granted_once() {
        AcquireRequest writer = writer();
        AcquireResult.Granted first = granted(writer);

        AcquireResult.Granted again = granted(writer);

        assertThat(again.fence()).isEqualTo(first.fence());
        assertThat(again.acquiredAt()).isAfterOrEqualTo(first.acquiredAt());
        assertThat(again.expiresAt()).isAfterOrEqualTo(first.expiresAt());
        assertThat(store.storedFence(KEY)).isEqualTo(first.fence().value());
    }

    @Test
    void a_counter_outlives_a_lease_that_its_caller_gets_again_for_longer() {
        AcquireRequest first = held(writer());

        granted(Requests.of(
                KEY,
                LockMode.EXCLUSIVE,
                0,
                first.lockId(),
                Duration.ofDays(30),
                first.options().owner(),
                false,
                true,
                1L));

        assertThat(store.redis().getExpire(store.key("fence", KEY)))
                .isGreaterThanOrEqualTo(store.redis().getExpire(store.key("lock", KEY)));
    }

    @Test
    void a_reader_whose_lease_has_lost_a_part_gets_another_one() {
        AcquireRequest reader = reader();
        Fence lost = granted(reader).fence();
        store.redis().delete(store.key("shared", KEY));

        assertThat(granted(reader).fence()).isGreaterThan(lost);
        assertThat(backend().lookup(KEY))
                .singleElement()
                .satisfies(info -> assertThat(info.fence()).isGreaterThan(lost));
    }

    @Test
    void a_reader_whose_lease_has_lost_a_part_is_released_early() {
        AcquireRequest reader = held(reader());
        AcquireRequest waiter = queuedWriter();
        store.redis().delete(store.key("shared", KEY));

        assertThat(backend().releaseAfter(reader.keyedLockId(), Duration.ofMinutes(1)))
                .isEqualTo(ReleaseResult.RELEASED);

        granted(waiter);
    }

    @Test
    void a_reader_that_queues_after_its_lease_has_lapsed_leaves_the_queue() {
        AcquireRequest reader = waitingReader();
        granted(reader);
        held(reader());
        AcquireRequest writer = queuedWriter();
        expireLease(reader);
        queued(reader);

        leave(reader);

        assertThat(store.redis().opsForZSet().size(store.key("queue", KEY))).isEqualTo(1);
        assertThat(backend().lookup(KEY)).hasSize(1);
        leave(writer);
    }

    @Test
    void an_id_that_has_outlived_its_lease_reaches_nobody_elses() {
        AcquireRequest stale = held(writer());
        store.redis().delete(store.key("lock", KEY));
        AcquireRequest next = held(writer());

        assertThat(backend().release(stale.lockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(backend().lookupById(stale.lockId())).isEmpty();
        assertThat(backend().lookup(KEY))
                .singleElement()
                .satisfies(info -> assertThat(info.lockId()).isEqualTo(next.lockId()));
    }

    @Test
    void thousands_of_readers_that_died_are_cleared_away_by_the_next_grant() {
        store.repeat(
                10_000,
                "redis.call('ZADD', KEYS[2], 1, i) redis.call('HSET', KEYS[3], i, '1 1 ')",
                store.key("readers", KEY),
                store.key("shared", KEY));

        held(writer());

        assertThat(keys()).doesNotContain(store.key("readers", KEY), store.key("shared", KEY));
    }

    @Test
    void thousands_of_waiters_that_died_are_cleared_away_by_a_release() {
        AcquireRequest holder = held(writer());
        store.repeat(
                10_000,
                "redis.call('ZADD', KEYS[2], i, i) redis.call('ZADD', KEYS[3], 4000000000000001, i)"
                        + " redis.call('HSET', KEYS[4], i, 'SHARED 1 1 1 - 0 ')",
                store.key("queue", KEY),
                store.key("waiting", KEY),
                store.key("waiters", KEY));
        AcquireRequest alive = queuedWriter();

        release(holder);

        assertThat(store.redis().opsForZSet().size(store.key("queue", KEY))).isEqualTo(1);
        assertThat(store.redis().opsForZSet().size(store.key("waiting", KEY))).isEqualTo(1);
        assertThat(store.redis().opsForHash().size(store.key("waiters", KEY))).isEqualTo(1);
        granted(alive);
    }

    @Test
    void hundreds_of_waiters_are_woken_at_once() {
        List<Long> woken = new CopyOnWriteArrayList<>();
        backend().connect(new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        });
        AcquireRequest holder = held(writer());
        List<AcquireRequest> readers =
                IntStream.range(0, 250).mapToObj(i -> queuedReader()).toList();
        Awaitility.await().until(backend()::isConnected);

        release(holder);

        Awaitility.await()
                .untilAsserted(() -> assertThat(woken)
                        .containsExactlyInAnyOrderElementsOf(readers.stream()
                                .map(AcquireRequest::waiterNumber)
                                .toList()));
    }

    @Test
    void who_is_first_requests_without_reading_the_queue_entries_of_the_others() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        assertThat(store.callsOf(() -> queued(second))).containsKey("zrangebyscore");
        release(holder);

        assertThat(store.callsOf(() -> granted(first))).isNotEmpty().doesNotContainKey("zrangebyscore");
    }

    @Test
    void a_key_that_is_too_long_is_kept_under_its_hash_in_every_family() {
        RedisKeySpace keys = new RedisKeySpace(new StorageKeys("p".repeat(500), 1000, 26));

        assertThat(keys.name("y".repeat(512))).isEqualTo("H230Rm619F0eJD3nNnCYfg");
        assertThat(keys.name("order:42")).isEqualTo("order:42");
        assertThat(keys.key("wake", "x")).isEqualTo("p".repeat(500) + ":wake:x");
    }

    @Test
    void keys_are_distinguished_from_families() {
        held(request("a", LockMode.EXCLUSIVE, TTL));
        held(request("fence:a", LockMode.EXCLUSIVE, TTL));
        held(request("lock:a", LockMode.EXCLUSIVE, TTL));

        assertThat(keys())
                .contains(
                        store.key("lock", "a"),
                        store.key("lock", "fence:a"),
                        store.key("lock", "lock:a"),
                        store.key("fence", "a"),
                        store.key("fence", "fence:a"),
                        store.key("fence", "lock:a"));
    }

    private RawLockInfo lookup(AcquireRequest request) {
        return backend().lookupById(request.keyedLockId()).orElseThrow();
    }

    private long end(AcquireRequest request) {
        return lookup(request).expiresAt().toEpochMilli();
    }

    /** Whether the key expires at this time, except for the time that passes between two readings of the clock. */
    private static void assertExpiresAt(String key, long millis) {
        assertThat(expiryOf(key)).isCloseTo(millis, within(3L));
    }

    private static Long expiryOf(String key) {
        return store.redis().execute(EXPIRY, List.of(key));
    }

    private long queueEntryEnd(AcquireRequest request) {
        return store.redis()
                .opsForZSet()
                .score(store.key("waiting", KEY), request.lockId())
                .longValue();
    }

    private Set<String> keys() {
        return store.redis().keys(store.key("*", "*"));
    }
}
