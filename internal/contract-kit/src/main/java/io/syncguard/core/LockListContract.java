package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockInfo;
import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.Hashes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The lists and states that every backend shows to operators. */
public abstract class LockListContract extends ContractFixture {

    @Test
    void holders_and_queue_are_shown_with_their_times_and_owners() {
        AcquireRequest holder = Requests.exclusive(KEY, newLockId(), TTL, "holder");
        AcquireResult.Granted grant = granted(holder);
        queued(waiting(Requests.exclusive(KEY, newLockId(), TTL, "first")));
        queued(waiting(Requests.shared(KEY, newLockId(), TTL, "second")));

        LockStatus status = elsewhere().status(KEY).orElseThrow();

        assertThat(status.key()).isEqualTo(KEY);
        assertThat(status.holders()).containsExactly(info(holder, grant, grant.expiresAt()));
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
    void readers_are_shown_with_their_times_and_owners_in_the_order_of_their_fences() {
        List<AcquireRequest> readers = IntStream.range(0, 5)
                .mapToObj(i -> Requests.shared(KEY, newLockId(), TTL, "reader " + i))
                .toList();
        List<AcquireResult.Granted> grants = readers.stream().map(this::granted).toList();
        // The extended lease ends last, and the store may have moved it behind the others.
        ExtendResult.Extended first = (ExtendResult.Extended) extend(readers.get(0), TTL.plusMinutes(1));

        assertThat(status().holders())
                .containsExactlyElementsOf(IntStream.range(0, 5)
                        .mapToObj(i -> info(
                                readers.get(i),
                                grants.get(i),
                                i == 0 ? first.expiresAt() : grants.get(i).expiresAt()))
                        .toList());
    }

    @Test
    void a_reader_that_has_lapsed_is_not_shown_beside_those_that_have_not() {
        AcquireRequest lapsed = held(reader());
        AcquireResult.Granted live = granted(reader());
        expireLease(lapsed);

        assertThat(status().holders()).extracting(LockInfo::fence).containsExactly(live.fence());
    }

    @Test
    void a_key_that_is_free_has_no_status_whoever_holds_its_neighbours() {
        held(writer());
        held(request("order:40", LockMode.SHARED, TTL));

        assertThat(backend().status("order:41")).isEmpty();
        assertThat(backend().status("order:4")).isEmpty();
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
            queued(waiting(Requests.exclusive(KEY, newLockId(), TTL, "waiter " + i)));
        }

        assertThat(status().waiters()).isEqualTo(LockStatus.MAX_QUEUE + 3);
        assertThat(status().queue())
                .extracting(LockStatus.Waiter::owner)
                .containsExactlyElementsOf(IntStream.rangeClosed(1, LockStatus.MAX_QUEUE)
                        .mapToObj(i -> "waiter " + i)
                        .toList());
    }

    @Test
    void entries_that_have_lapsed_hide_none_of_those_behind_them() {
        held(writer());
        List<AcquireRequest> lapsed = IntStream.rangeClosed(0, LockStatus.MAX_QUEUE)
                .mapToObj(i -> queuedWriter())
                .toList();
        for (int i = 1; i <= LockStatus.MAX_QUEUE + 3; i++) {
            queued(waiting(Requests.exclusive(KEY, newLockId(), TTL, "waiter " + i)));
        }
        lapsed.forEach(this::expireQueueEntry);

        assertThat(status().waiters()).isEqualTo(LockStatus.MAX_QUEUE + 3);
        assertThat(status().queue())
                .hasSize(LockStatus.MAX_QUEUE)
                .first()
                .extracting(LockStatus.Waiter::owner)
                .isEqualTo("waiter 1");
    }

    @Test
    void the_pages_of_a_list_have_each_key_once_in_the_order_of_their_bytes() {
        List<String> keys = List.of("a", "b:1", "b:2", "b:3", "c", "z", "\u00e9", "\uffee", "\ud83d\ude00");
        keys.forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));
        held(request("shared", LockMode.SHARED, TTL));
        held(request("shared", LockMode.SHARED, TTL));

        assertThat(pages(2))
                .containsExactly("a", "b:1", "b:2", "b:3", "c", "shared", "z", "\u00e9", "\uffee", "\ud83d\ude00");
    }

    @Test
    void many_readers_of_a_key_take_one_place_on_a_page() {
        for (String key : List.of("c", "b", "a")) {
            IntStream.range(0, 3).forEach(i -> held(request(key, LockMode.SHARED, TTL)));
        }

        assertThat(pages(1)).containsExactly("a", "b", "c");
    }

    @Test
    void many_waiters_for_a_key_take_one_place_on_a_page_although_nobody_holds_it() {
        for (String key : List.of("c", "b", "a")) {
            held(request(key, LockMode.EXCLUSIVE, TTL));
            IntStream.range(0, 3).forEach(i -> queued(waiting(request(key, LockMode.EXCLUSIVE, TTL))));
            backend().forceRelease(key);
        }

        assertThat(pages(1)).containsExactly("a", "b", "c");
        assertThat(backend().status("a").orElseThrow().holders()).isEmpty();
    }

    @Test
    void what_has_lapsed_takes_no_place_on_a_page() {
        for (String key : List.of("a1", "a2")) {
            expireLease(held(request(key, LockMode.EXCLUSIVE, TTL)));
            expireLease(held(request("shared " + key, LockMode.SHARED, TTL)));
            AcquireRequest holder = held(request("waited for " + key, LockMode.EXCLUSIVE, TTL));
            AcquireRequest waiter = waiting(request("waited for " + key, LockMode.EXCLUSIVE, TTL));
            queued(waiter);
            expireQueueEntry(waiter);
            expireLease(holder);
        }
        held(request("z", LockMode.EXCLUSIVE, TTL));

        assertThat(pages(1)).containsExactly("z");
    }

    @Test
    void a_list_may_be_long() {
        List<String> keys =
                IntStream.range(0, 250).mapToObj("key:%03d"::formatted).toList();
        keys.forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));

        assertThat(pages(LockQuery.all().limit())).containsExactlyElementsOf(keys);
        assertThat(keys(LockQuery.all().limit(LockQuery.MAX_LIMIT))).containsExactlyElementsOf(keys);
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

    /** The keys of all pages of this size. */
    private List<String> pages(int limit) {
        List<String> found = new ArrayList<>();
        for (LockQuery query = LockQuery.all().limit(limit); query != null; ) {
            LockPage page = elsewhere().list(query);
            assertThat(page.locks()).hasSizeBetween(1, limit);
            page.locks().forEach(lock -> found.add(lock.key()));
            query = page.next() == null ? null : query.after(page.next());
        }
        return found;
    }

    private LockStatus status() {
        return backend().status(KEY).orElseThrow();
    }

    private List<String> keys(LockQuery query) {
        return elsewhere().list(query).locks().stream().map(LockStatus::key).toList();
    }

    private static LockInfo info(AcquireRequest request, AcquireResult.Granted grant, Instant expiresAt) {
        return new LockInfo(
                Hashes.abbreviated(request.key()),
                Hashes.abbreviated(request.lockId()),
                request.options().mode(),
                grant.acquiredAt(),
                expiresAt,
                grant.fence(),
                request.options().owner());
    }
}
