package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.core.ListeningFixture;
import io.syncguard.spi.AcquireRequest;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The keys and the commands of requests with permits. */
class RedisPermitKeysTests extends ListeningFixture {

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore();

    @Test
    void lapsed_leases_count_until_the_number_is_reached_and_are_deleted_by_the_grant() {
        AcquireRequest lapsed = held(limited(3));
        held(limited(3));
        expireLease(lapsed);

        held(limited(3));
        assertThat(leases()).hasSize(3).contains(lapsed.lockId());

        held(limited(3));
        assertThat(leases()).hasSize(3).doesNotContain(lapsed.lockId());
        assertThat(store.redis().opsForHash().keys(store.key("shared", KEY))).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource({"EXCLUSIVE, 0, true", "SHARED, 1, true", "SHARED, 2, false"})
    void lapsed_leases_count_for_a_hand_over_too(LockMode mode, int permits, boolean deleted) {
        AcquireRequest lapsed = held(reader());
        AcquireRequest holder = held(reader());
        queued(acceptingHandOver(waiting(request(KEY, mode, permits, TTL))));
        expireLease(lapsed);

        release(holder);

        assertThat(backend().lookup(KEY)).singleElement();
        assertThat(leases().contains(lapsed.lockId())).isEqualTo(!deleted);
    }

    @Test
    void a_try_with_permits_that_is_refused_writes_nothing() {
        AcquireRequest lapsed = held(limited(3));
        held(limited(3));
        held(limited(3));
        expireLease(lapsed);
        long before = store.changes();

        refused(limited(1));
        refused(limited(2));

        assertThat(store.changes()).isEqualTo(before);
        assertThat(leases()).hasSize(3);
    }

    /** An instance without permits writes such entries. */
    @Test
    void a_queue_entry_without_a_number_is_one_without_a_limit() {
        AcquireRequest holder = held(writer());
        AcquireRequest reader = queuedReader();
        AcquireRequest behind = waiting(limited(2));
        queued(behind);
        String waiters = store.key("waiters", KEY);
        store.redis().opsForHash().put(waiters, reader.lockId(), "SHARED 1795700000000 7 60000 - 0 test\0");

        assertThat(backend().status(KEY).orElseThrow().queue())
                .extracting(LockStatus.Waiter::permits)
                .containsExactly(0, 2);
        assertThat(renewQueueEntry(reader)).isPositive();
        leave(behind);
        release(holder);
        refused(limited(2));
        release(held(reader()));
        granted(reader.fromQueue());
        granted(limited(2));
    }

    /** It needs no look at each of them. */
    @ParameterizedTest
    @CsvSource({"0, 1, 8", "3, 1, 10", "0, 2000, 8", "3, 2000, 10"})
    void a_newcomer_sees_all_who_wait_with_permits_by_the_same_few_commands(int permits, int waiters, int commands) {
        held(limited(1));
        store.repeat(waiters, """
                redis.call('ZADD', KEYS[2], i, i)
                redis.call('ZADD', KEYS[3], 2000000000000 + i, i)
                redis.call('HSET', KEYS[4], i, 'SHARED1 1 1 60000 - 0 ')
                """, store.key("queue", KEY), store.key("waiting", KEY), store.key("waiters", KEY));
        AcquireRequest newcomer = permits == 0 ? reader() : limited(permits);

        assertThat(sum(store.callsOf(() -> refused(newcomer)))).isEqualTo(commands);
    }

    /** Nobody else waits. */
    @ParameterizedTest
    @CsvSource({"EXCLUSIVE, 0, 8, 12", "SHARED, 0, 20, 15", "SHARED, 1, 20, 21"})
    void a_pair_and_the_release_to_a_waiter_are_so_many_commands(LockMode mode, int permits, int pair, int handOver) {
        release(held(request(KEY, mode, permits, TTL)));
        AcquireRequest again = request(KEY, mode, permits, TTL);
        assertThat(sum(store.callsOf(() -> release(held(again))))).isEqualTo(pair);

        AcquireRequest holder =
                held(mode == LockMode.SHARED && permits == 0 ? writer() : request(KEY, mode, permits, TTL));
        queued(acceptingHandOver(waiting(request(KEY, mode, permits, TTL))));

        assertThat(sum(store.callsOf(() -> release(holder)))).isEqualTo(handOver);
    }

    private Set<String> leases() {
        return Objects.requireNonNull(store.redis().opsForZSet().range(store.key("readers", KEY), 0, -1));
    }

    private static int sum(Map<String, Integer> calls) {
        return calls.values().stream().mapToInt(each -> each).sum();
    }
}
