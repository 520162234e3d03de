package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.ForcedRelease;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What operators see of every backend, and the one thing that they can do. */
public abstract class LockListContract extends ContractFixture {

    @Test
    void holders_and_queue_are_shown_with_their_times_and_owners() {
        AcquireResult.Granted grant = granted(AcquireRequests.exclusive(KEY, newLockId(), TTL, "holder"));
        queued(waiting(AcquireRequests.exclusive(KEY, newLockId(), TTL, "first")));
        queued(waiting(AcquireRequests.shared(KEY, newLockId(), TTL, "second")));

        LockStatus status = elsewhere().status(KEY).orElseThrow();

        assertThat(status.key()).isEqualTo(KEY);
        assertThat(status.holders())
                .containsExactly(new LockStatus.Holder(
                        LockMode.EXCLUSIVE, "holder", grant.acquiredAt(), grant.expiresAt(), grant.fence()));
        assertThat(status.queue()).extracting(LockStatus.Waiter::owner).containsExactly("first", "second");
        assertThat(status.queue())
                .extracting(LockStatus.Waiter::mode)
                .containsExactly(LockMode.EXCLUSIVE, LockMode.SHARED);
        assertThat(status.queue())
                .allSatisfy(waiter -> assertThat(waiter.since()).isBetween(grant.acquiredAt(), status.at()));
        assertThat(status.waiters()).isEqualTo(2);
        assertThat(backend().list(LockQuery.all()).locks())
                .singleElement()
                .usingRecursiveComparison()
                .ignoringFields("at")
                .isEqualTo(status);
    }

    @Test
    void readers_are_in_the_order_of_their_fences() {
        List<AcquireResult.Granted> grants =
                IntStream.range(0, 5).mapToObj(i -> granted(reader())).toList();

        assertThat(status().holders())
                .extracting(LockStatus.Holder::fence)
                .containsExactlyElementsOf(
                        grants.stream().map(AcquireResult.Granted::fence).toList());
        assertThat(status().holders()).extracting(LockStatus.Holder::mode).containsOnly(LockMode.SHARED);
    }

    @Test
    void a_waiter_keeps_the_time_of_its_arrival() {
        held(writer());
        AcquireRequest waiter = queuedWriter();
        LockStatus.Waiter before = status().queue().get(0);

        renewQueueEntry(waiter);
        queued(waiter.waitingAs(77));

        assertThat(status().queue()).containsExactly(before);
    }

    @Test
    void what_was_released_or_has_lapsed_is_not_shown() {
        release(held(writer()));
        assertThat(backend().status(KEY)).isEmpty();

        AcquireRequest lapsed = held(writer());
        queuedWriter();
        AcquireRequest gone = queuedWriter();
        leave(gone);
        expireLease(lapsed);
        assertThat(status().holders()).isEmpty();
        assertThat(status().waiters()).isEqualTo(1);
        assertThat(keys(LockQuery.all())).as("it is waited for").containsExactly(KEY);

        AcquireRequest other = held(request("other", LockMode.EXCLUSIVE, TTL));
        expireLease(other);
        assertThat(keys(LockQuery.all())).containsExactly(KEY);
    }

    @Test
    void waiters_whose_entry_has_lapsed_are_not_shown() {
        held(writer());
        AcquireRequest lapsed = queuedWriter();
        queuedReader();
        expireQueueEntry(lapsed);

        assertThat(status().queue()).extracting(LockStatus.Waiter::mode).containsExactly(LockMode.SHARED);
        assertThat(status().waiters()).isEqualTo(1);
    }

    @Test
    void of_a_long_queue_the_first_are_shown_and_all_are_counted() {
        held(writer());
        for (int i = 1; i <= LockStatus.MAX_QUEUE + 3; i++) {
            queued(waiting(AcquireRequests.exclusive(KEY, newLockId(), TTL, "waiter " + i)));
        }

        assertThat(status().waiters()).isEqualTo(LockStatus.MAX_QUEUE + 3);
        assertThat(status().queue())
                .extracting(LockStatus.Waiter::owner)
                .containsExactlyElementsOf(IntStream.rangeClosed(1, LockStatus.MAX_QUEUE)
                        .mapToObj(i -> "waiter " + i)
                        .toList());
    }

    @Test
    void the_pages_of_a_list_have_each_key_once_in_the_order_of_their_bytes() {
        List<String> keys = List.of("a", "b:1", "b:2", "b:3", "c", "z", "\u00e9", "\uffee", "\ud83d\ude00");
        keys.forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));
        held(request("shared", LockMode.SHARED, TTL));
        held(request("shared", LockMode.SHARED, TTL));

        List<String> found = new ArrayList<>();
        for (LockQuery query = LockQuery.all().limit(2); query != null; ) {
            LockPage page = elsewhere().list(query);
            assertThat(page.locks()).hasSizeBetween(1, 2);
            page.locks().forEach(lock -> found.add(lock.key()));
            query = page.next() == null ? null : query.after(page.next());
        }

        assertThat(found)
                .containsExactly("a", "b:1", "b:2", "b:3", "c", "shared", "z", "\u00e9", "\uffee", "\ud83d\ude00");
    }

    @Test
    void a_prefix_is_taken_as_it_is() {
        List.of("a%", "a*", "a[b]", "a\\", "a_", "ab", "b").forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));

        assertThat(keys(LockQuery.all().startingWith("a"))).containsExactly("a%", "a*", "a[b]", "a\\", "a_", "ab");
        for (String key : List.of("a%", "a*", "a[b]", "a\\", "a_", "ab")) {
            assertThat(keys(LockQuery.all().startingWith(key))).containsExactly(key);
        }
        assertThat(keys(LockQuery.all().startingWith("a").after("a_"))).containsExactly("ab");
        assertThat(keys(LockQuery.all().startingWith("c"))).isEmpty();
    }

    @Test
    void a_key_of_the_greatest_length_is_listed_as_it_is() {
        String longest = "k".repeat(LockLimits.MAX_KEY_BYTES);
        held(request(longest, LockMode.EXCLUSIVE, TTL));

        assertThat(keys(LockQuery.all().startingWith("kkk"))).containsExactly(longest);
        assertThat(backend().status(longest).orElseThrow().key()).isEqualTo(longest);
    }

    @Test
    void a_forced_release_ends_the_lease_of_another_process_with_a_larger_fence() {
        AcquireRequest hangs = writer();
        AcquireResult.Granted grant = granted(elsewhere(), hangs);

        ForcedRelease done = backend().forceRelease(KEY);

        assertThat(done.key()).isEqualTo(KEY);
        assertThat(done.released()).isEqualTo(1);
        assertThat(done.remaining()).isZero();
        assertThat(done.fence()).isGreaterThan(grant.fence());
        assertThat(backend().isLocked(KEY)).isFalse();
        assertThat(extend(hangs, TTL)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(granted(writer()).fence()).isGreaterThan(done.fence());
    }

    @Test
    void it_ends_all_readers_and_a_lease_that_is_held_at_least_for_a_time() {
        held(reader());
        held(reader());
        expireLease(held(reader()));
        assertThat(backend().forceRelease(KEY).released()).isEqualTo(2);
        granted(writer());
        backend().forceRelease(KEY);

        AcquireRequest early = held(writer());
        backend().releaseAfter(early.lockId(), Duration.ofMinutes(5));
        assertThat(backend().forceRelease(KEY).released()).isEqualTo(1);
        granted(writer());
    }

    @Test
    void without_a_live_lease_it_changes_nothing() {
        assertThat(backend().forceRelease("never locked")).isEqualTo(new ForcedRelease("never locked", 0, 0, null));
        release(held(writer()));
        long before = store().storedFence(KEY);
        assertThat(backend().forceRelease(KEY)).isEqualTo(new ForcedRelease(KEY, 0, 0, null));
        assertThat(store().storedFence(KEY)).isEqualTo(before);
    }

    @Test
    void it_leaves_other_keys_alone() {
        AcquireRequest other = held(request("order:421", LockMode.EXCLUSIVE, TTL));
        held(writer());
        backend().forceRelease(KEY);
        assertThat(backend().lookupById(other.lockId())).isPresent();
    }

    @Test
    void those_who_wait_go_on() throws Exception {
        LockRequest request = LockRequest.of(KEY).noHeartbeat().waitTime(Duration.ofMinutes(1));
        try (LockEngine holder = engine();
                LockEngine waiter = engine()) {
            LockHandle hangs = holder.acquire(request);
            FutureTask<LockHandle> next = new FutureTask<>(() -> waiter.acquire(request));
            new Thread(next).start();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> backend().status(KEY).orElseThrow().waiters() == 1);

            ForcedRelease done = waiter.forceRelease(KEY, "a test");

            LockHandle granted = next.get(30, TimeUnit.SECONDS);
            assertThat(granted.fence()).isGreaterThan(done.fence());
            assertThat(hangs.extend(TTL)).isFalse();
            assertThat(granted.release()).isTrue();
        }
    }

    private LockEngine engine() {
        return new LockEngine(
                store().newBackend(), EngineSettings.defaults("test"), TransactionBoundary.NONE, List.of());
    }

    private LockStatus status() {
        return backend().status(KEY).orElseThrow();
    }

    private List<String> keys(LockQuery query) {
        return elsewhere().list(query).locks().stream().map(LockStatus::key).toList();
    }
}
