package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.core.ContractFixture;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Redis evicts or loses keys one by one. The rest of a lease or queue entry blocks nobody.
 *
 * <p>{@code W} is a writer, {@code R} a reader, and a number a request with so many permits.
 */
class RedisLostPartsTests extends ContractFixture {

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore();

    @ParameterizedTest
    @ValueSource(strings = {"readers", "shared", "fence", "queue", "waiting", "waiters"})
    void a_lost_key_keeps_nobody_from_a_permit(String lost) {
        AcquireRequest holder = held(limited(1));
        AcquireRequest first = queuedAs("1");
        AcquireRequest second = queuedAs("1");
        store.redis().delete(store.key(lost, KEY));

        renewQueueEntry(first);
        renewQueueEntry(second);
        assertThat(backend().release(holder.keyedLockId()).outcome())
                .isEqualTo(lost.equals("readers") ? Outcome.NOT_FOUND : Outcome.RELEASED);
        granted(first.fromQueue());
        queued(second.fromQueue());
        release(first);
        granted(second.fromQueue());
        release(second);

        assertThat(backend().isLocked(KEY)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_lease_with_permits_that_has_lost_a_part_is_not_in_the_way_of_its_own_caller(boolean waits) {
        AcquireRequest holder = waits ? waiting(limited(2)) : limited(2);
        held(limited(2));
        Fence lost = granted(holder).fence();
        store.redis().delete(store.key("shared", KEY));

        assertThat(granted(holder).fence()).isGreaterThan(lost);
        refused(limited(2));
        release(holder);
        granted(limited(2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"waiting", "waiters"})
    void a_run_of_hand_overs_passes_an_entry_that_has_lost_a_part(String lost) {
        connect(backend(), wakeUps(new ArrayList<>()));
        AcquireRequest holder = held(writer());
        List<AcquireRequest> waiters = Stream.generate(() -> acceptingHandOver(waiting(limited(2))))
                .limit(3)
                .toList();
        waiters.forEach(this::queued);
        if (lost.equals("waiting")) {
            store.redis()
                    .opsForZSet()
                    .remove(store.key(lost, KEY), waiters.get(1).lockId());
        } else {
            store.redis()
                    .opsForHash()
                    .delete(store.key(lost, KEY), waiters.get(1).lockId());
        }

        assertThat(backend().release(holder.keyedLockId()).handOvers())
                .extracting(ReleaseResult.HandOver::waiterNumber)
                .containsExactly(waiters.get(0).waiterNumber(), waiters.get(2).waiterNumber());
        assertThat(renewQueueEntry(waiters.get(1))).isZero();
    }

    /** No request makes a reader beside a writer. Somebody may have written the key by hand. */
    @Test
    void a_writer_is_not_handed_the_key_beside_a_reader() {
        connect(backend(), wakeUps(new ArrayList<>()));
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = acceptingHandOver(waiting(writer()));
        queued(waiter);
        store.redis().opsForZSet().add(store.key("readers", KEY), "somebody", Fence.MAX_VALUE);

        assertThat(backend().release(holder.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
        queued(waiter.fromQueue());
    }

    /** {@code ~} is an entry whose expiry is lost: it never lapses. */
    @ParameterizedTest
    @ValueSource(strings = {"~W W", "~W R", "~W 1", "~1 1", "~1 R", "~R W", "~R 1", "~R ~R ~1 W", "R ~W R", "R ~1 R"})
    void an_entry_without_an_expiry_hides_nobody_from_a_wake_up(String queue) {
        List<Long> woken = new CopyOnWriteArrayList<>();
        connect(backend(), wakeUps(woken));
        held(writer());
        List<Long> alive = new ArrayList<>();
        for (String word : queue.split(" ")) {
            AcquireRequest waiter = queuedAs(word.replace("~", ""));
            if (word.startsWith("~")) {
                store.redis().opsForZSet().remove(store.key("waiting", KEY), waiter.lockId());
            } else {
                alive.add(waiter.waiterNumber());
            }
        }
        Awaitility.await().until(backend()::isConnected);

        backend().forceRelease(KEY);

        Awaitility.await().untilAsserted(() -> assertThat(woken).containsExactlyElementsOf(alive));
    }

    @Test
    void hundreds_of_entries_without_an_expiry_hide_nobody_from_a_wake_up() {
        List<Long> woken = new CopyOnWriteArrayList<>();
        connect(backend(), wakeUps(woken));
        held(writer());
        store.repeat(
                250,
                "redis.call('ZADD', KEYS[2], i, i) redis.call('HSET', KEYS[3], i, 'EXCLUSIVE 1 1 1 - 0 ')",
                store.key("queue", KEY),
                store.key("waiters", KEY));
        AcquireRequest alive = queuedAs("1");
        Awaitility.await().until(backend()::isConnected);

        backend().forceRelease(KEY);

        Awaitility.await().untilAsserted(() -> assertThat(woken).containsExactly(alive.waiterNumber()));
        assertThat(store.redis().opsForZSet().size(store.key("queue", KEY))).isEqualTo(1);
    }

    /** The parts of a queue expire together, and the next entry finds one that expires later. */
    @ParameterizedTest
    @ValueSource(strings = {"waiting", "waiters"})
    void a_part_of_a_queue_that_is_new_expires(String lost) {
        held(writer());
        queuedAs("W");
        store.redis().expire(store.key("queue", KEY), Duration.ofHours(1));
        store.redis().delete(store.key(lost, KEY));

        queuedAs("W");

        assertThat(store.redis().getExpire(store.key(lost, KEY))).isPositive();
    }

    private AcquireRequest queuedAs(String word) {
        AcquireRequest waiter = waiting(
                switch (word) {
                    case "W" -> writer();
                    case "R" -> reader();
                    default -> limited(Integer.parseInt(word));
                });
        queued(waiter);
        return waiter;
    }

    private static WakeUpListener wakeUps(List<Long> woken) {
        return new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        };
    }
}
