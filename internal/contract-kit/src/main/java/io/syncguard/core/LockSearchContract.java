package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockException;
import io.syncguard.LockMode;
import io.syncguard.LockOrder;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which locks every backend finds for operators, in which order, and how many it counts. */
public abstract class LockSearchContract extends ContractFixture {

    /** Characters that are wildcards somewhere, and some that need more than a byte. */
    private static final List<String> HOSTILE =
            List.of("%", "_", "*", "?", "[a]", "\\", "'", "\"", "$1", ".+", "\u00fc", "\ud83d\ude00");

    @Test
    void the_keys_with_a_queue_are_found_among_many_locks() {
        manyLocks();
        List<String> contended = IntStream.of(7, 60, 128, 199, 230)
                .mapToObj(LockSearchContract::key)
                .toList();
        contended.forEach(key -> queued(waiting(request(key, LockMode.EXCLUSIVE, TTL))));
        queued(waiting(request(contended.get(3), LockMode.SHARED, TTL)));

        assertThat(keys(LockQuery.all().waitedFor())).containsExactlyElementsOf(contended);
        assertThat(pages(LockQuery.all().waitedFor().limit(2))).containsExactlyElementsOf(contended);
        LockSummary summary = elsewhere().summary();
        assertThat(summary.queues()).extracting(LockStatus::key).containsExactlyInAnyOrderElementsOf(contended);
        assertThat(summary.queues()).extracting(LockStatus::waiters).containsExactlyInAnyOrder(1, 1, 1, 2, 1);
        assertThat(summary.waitedFor()).isEqualTo(5);
        assertThat(summary.waiters()).isEqualTo(6);
        assertThat(summary.locked()).isEqualTo(250);
        assertThat(summary.leases()).isEqualTo(250);
    }

    @Test
    void the_last_of_many_keys_may_be_the_first_of_a_list() {
        manyLocks();
        held(request("last", LockMode.EXCLUSIVE, TTL.minusMinutes(1)));

        assertThat(keys(LockQuery.all().orderedBy(LockOrder.ENDS_FIRST).limit(1)))
                .containsExactly("last");
    }

    @Test
    void of_many_queues_those_with_the_longest_wait_are_shown() {
        List<String> keys = IntStream.range(0, LockSummary.MAX_QUEUES + 3)
                .mapToObj(LockSearchContract::key)
                .toList();
        keys.forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));
        List<String> byArrival = new ArrayList<>(keys);
        Collections.reverse(byArrival);
        byArrival.forEach(key -> {
            queued(waiting(request(key, LockMode.EXCLUSIVE, TTL)));
            later();
        });

        LockSummary summary = elsewhere().summary();
        assertThat(summary.queues())
                .extracting(LockStatus::key)
                .containsExactlyElementsOf(byArrival.subList(0, LockSummary.MAX_QUEUES));
        assertThat(summary.waitedFor()).isEqualTo(keys.size());
        assertThat(summary.longestWait()).isPositive().isLessThanOrEqualTo(summary.longestHold());
        assertThat(pages(LockQuery.all().orderedBy(LockOrder.LONGEST_WAIT).limit(4)))
                .containsExactlyElementsOf(byArrival);
    }

    @Test
    void times_decide_about_the_order_and_keys_without_one_come_last() {
        held(request("d", LockMode.EXCLUSIVE, TTL.plusMinutes(1)));
        later();
        AcquireRequest reader = held(request("c", LockMode.SHARED, TTL.plusMinutes(3)));
        later();
        held(request("c", LockMode.SHARED, TTL));
        held(request("b", LockMode.EXCLUSIVE, TTL.plusMinutes(2)));
        queued(waiting(request("b", LockMode.EXCLUSIVE, TTL)));
        later();
        queued(waiting(request("d", LockMode.SHARED, TTL)));
        queued(waiting(request("b", LockMode.EXCLUSIVE, TTL)));
        held(request("a", LockMode.EXCLUSIVE, TTL));
        queued(waiting(request("a", LockMode.EXCLUSIVE, TTL)));
        backend().forceRelease("a");

        assertThat(order(LockOrder.KEY)).containsExactly("a", "b", "c", "d");
        assertThat(order(LockOrder.LONGEST_HELD)).containsExactly("d", "c", "b", "a");
        assertThat(order(LockOrder.LONGEST_WAIT)).startsWith("b").endsWith("c");
        assertThat(order(LockOrder.ENDS_FIRST)).containsExactly("c", "d", "b", "a");
        assertThat(keys(LockQuery.all().waitedFor().orderedBy(LockOrder.ENDS_FIRST)))
                .containsExactly("d", "b", "a");

        release(reader);
        assertThat(order(LockOrder.LONGEST_HELD)).startsWith("d");
    }

    @ParameterizedTest
    @EnumSource(LockOrder.class)
    void pages_have_each_key_once_also_among_equal_times(LockOrder order) {
        List<String> keys =
                IntStream.range(0, 25).mapToObj(LockSearchContract::key).toList();
        // These have no time but for the last: all are equal in each order but those by a lease.
        keys.forEach(key -> held(request(key, LockMode.EXCLUSIVE, TTL)));
        List.of("x", "y", "z").forEach(key -> {
            held(request(key, LockMode.EXCLUSIVE, TTL));
            queued(waiting(request(key, LockMode.EXCLUSIVE, TTL)));
            backend().forceRelease(key);
        });

        assertThat(pages(LockQuery.all().orderedBy(order).limit(4)))
                .doesNotHaveDuplicates()
                .hasSize(28);
    }

    @Test
    void a_part_of_an_owner_finds_what_it_holds_and_what_it_waits_for() {
        held(Requests.exclusive("a", newId("a"), TTL, "host-1/123 main"));
        held(Requests.exclusive("b", newId("b"), TTL, "host-2/5"));
        queued(waiting(Requests.exclusive("b", newId("b"), TTL, "host-1/123 worker")));
        held(Requests.shared("c", newId("c"), TTL, "host-2/5"));
        held(Requests.shared("c", newId("c"), TTL, "host-1/9"));
        held(Requests.exclusive("d", newId("d"), TTL, "HOST-1/123"));

        assertThat(keys(LockQuery.all().owner("host-1"))).containsExactly("a", "b", "c");
        assertThat(keys(LockQuery.all().owner("1/123"))).containsExactly("a", "b", "d");
        assertThat(keys(LockQuery.all().owner("host-1").waitedFor())).containsExactly("b");
        assertThat(keys(LockQuery.all().owner("host-1").startingWith("a"))).containsExactly("a");
        assertThat(pages(LockQuery.all().owner("host-1").limit(1))).containsExactly("a", "b", "c");
        assertThat(keys(LockQuery.all().owner("host-3"))).isEmpty();
        assertThat(elsewhere()
                        .list(LockQuery.all().owner("host-1/9"))
                        .locks()
                        .get(0)
                        .holders())
                .as("the lock has its other holders, too")
                .hasSize(2);
    }

    @Test
    void the_last_of_many_waiters_is_found_by_its_owner() {
        held(writer());
        for (int i = 0; i <= LockStatus.MAX_QUEUE; i++) {
            queued(waiting(Requests.exclusive(KEY, newLockId(), TTL, "waiter " + i)));
        }

        assertThat(keys(LockQuery.all().owner("waiter " + LockStatus.MAX_QUEUE)))
                .containsExactly(KEY);
        assertThat(elsewhere()
                        .list(LockQuery.all().owner("waiter"))
                        .locks()
                        .get(0)
                        .queue())
                .hasSize(LockStatus.MAX_QUEUE);
    }

    @Test
    void no_character_of_a_part_is_a_wildcard() {
        HOSTILE.forEach(
                text -> held(Requests.exclusive("k" + text + "k", newId("k" + text + "k"), TTL, "o" + text + "o")));
        held(Requests.exclusive("kk", newId("kk"), TTL, "oo"));

        for (String text : HOSTILE) {
            assertThat(keys(LockQuery.all().containing(text))).containsExactly("k" + text + "k");
            assertThat(keys(LockQuery.all().containing(text + "k").orderedBy(LockOrder.LONGEST_HELD)))
                    .containsExactly("k" + text + "k");
            assertThat(keys(LockQuery.all().owner(text))).containsExactly("k" + text + "k");
        }
        assertThat(keys(LockQuery.all().containing("K"))).isEmpty();
        assertThat(keys(LockQuery.all().owner("O"))).isEmpty();
        assertThat(keys(LockQuery.all().containing("kk").startingWith("k"))).containsExactly("kk");
    }

    @Test
    void a_long_key_is_found_by_a_part_of_it() {
        String longest = "k".repeat(250) + ":7:" + "k".repeat(250);
        held(request(longest, LockMode.EXCLUSIVE, TTL));
        held(request("k".repeat(500), LockMode.EXCLUSIVE, TTL));

        assertThat(keys(LockQuery.all().containing("k:7:k"))).containsExactly(longest);
        assertThat(pages(LockQuery.all().orderedBy(LockOrder.ENDS_FIRST).limit(1)))
                .containsExactlyInAnyOrder(longest, "k".repeat(500));
    }

    @Test
    void what_has_lapsed_does_not_count() {
        AcquireRequest lapsed = held(writer());
        AcquireRequest gone = queuedWriter();
        expireQueueEntry(gone);
        expireLease(lapsed);
        AcquireRequest reader = held(request("readers", LockMode.SHARED, TTL));
        expireLease(held(request("readers", LockMode.SHARED, TTL)));

        assertThat(keys(LockQuery.all().waitedFor())).isEmpty();
        assertThat(keys(LockQuery.all().owner("test"))).containsExactly("readers");
        assertThat(order(LockOrder.ENDS_FIRST)).containsExactly("readers");
        assertThat(elsewhere().summary())
                .usingRecursiveComparison()
                .ignoringFields("longestHold")
                .isEqualTo(new LockSummary(1, 1, 0, 0, Duration.ZERO, Duration.ZERO, List.of()));

        release(reader);
        assertThat(elsewhere().summary())
                .isEqualTo(new LockSummary(0, 0, 0, 0, Duration.ZERO, Duration.ZERO, List.of()));
    }

    @Test
    void shared_leases_and_permits_are_counted_one_by_one() {
        held(writer());
        IntStream.range(0, 3).forEach(i -> held(request("readers", LockMode.SHARED, TTL)));
        IntStream.range(0, 2).forEach(i -> held(request("permits", LockMode.SHARED, 2, TTL)));
        queued(waiting(request("permits", LockMode.SHARED, 2, TTL)));
        later();

        LockSummary summary = elsewhere().summary();
        assertThat(summary.locked()).isEqualTo(3);
        assertThat(summary.leases()).isEqualTo(6);
        assertThat(summary.waitedFor()).isEqualTo(1);
        assertThat(summary.waiters()).isEqualTo(1);
        assertThat(summary.longestHold()).isPositive();
        assertThat(summary.longestWait()).isPositive();
        LockStatus queue = summary.queues().get(0);
        assertThat(queue)
                .usingRecursiveComparison()
                .ignoringFields("at")
                .isEqualTo(backend().status("permits").orElseThrow());
    }

    @Test
    void a_key_that_is_waited_for_and_not_held_is_not_locked() {
        held(writer());
        queuedWriter();
        backend().forceRelease(KEY);

        assertThat(elsewhere().summary().locked()).isZero();
        assertThat(elsewhere().summary().queues()).extracting(LockStatus::key).containsExactly(KEY);
    }

    @Test
    void a_page_in_another_order_continues_only_after_a_next() {
        for (String next : List.of("a", "1", ":a", "x:a", "1:")) {
            assertThatThrownBy(() -> elsewhere()
                            .list(LockQuery.all()
                                    .orderedBy(LockOrder.ENDS_FIRST)
                                    .after(next)))
                    .isInstanceOf(LockException.class);
        }
    }

    /** Waits until the server's clock shows another millisecond. */
    protected void later() {
        long before = store().clockMillis();
        Awaitility.await()
                .pollInSameThread()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> store().clockMillis() > before);
    }

    private void manyLocks() {
        IntStream.range(0, 250).forEach(i -> held(request(key(i), LockMode.EXCLUSIVE, TTL)));
    }

    private String newId(String key) {
        return backend().lockIdFor(key, newLockId());
    }

    private static String key(int number) {
        return String.format(Locale.ROOT, "key:%03d", number);
    }

    private List<String> order(LockOrder order) {
        return pages(LockQuery.all().orderedBy(order).limit(2));
    }

    private List<String> pages(LockQuery first) {
        List<String> found = new ArrayList<>();
        for (LockQuery query = first; query != null; ) {
            LockPage page = elsewhere().list(query);
            assertThat(page.locks()).hasSizeBetween(1, query.limit());
            page.locks().forEach(lock -> found.add(lock.key()));
            query = page.next() == null ? null : query.after(page.next());
        }
        return found;
    }

    private List<String> keys(LockQuery query) {
        return elsewhere().list(query).locks().stream().map(LockStatus::key).toList();
    }
}
