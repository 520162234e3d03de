package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.BugOf;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The guarantees of every backend for the queue of a key. There is one queue for both modes and all processes, in the
 * order of arrival.
 */
public abstract class QueueContract extends ContractFixture {

    @Test
    void a_waiter_that_is_refused_gets_a_queue_entry_and_draws_no_fence() {
        held(writer());

        queued(waitingReader());
        queued(waitingWriter());

        assertDrawn(1);
    }

    @Test
    void a_waiter_who_meets_a_free_key_is_granted_at_once_and_leaves_no_queue_entry_behind() {
        AcquireRequest first = waitingWriter();
        held(first);
        release(first);

        assertThat(backend().release(first.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        granted(writer());
    }

    /** The answer to the first request was lost. */
    @ParameterizedTest
    @CsvSource({
        "EXCLUSIVE, false, false",
        "EXCLUSIVE, true, false",
        "EXCLUSIVE, false, true",
        "SHARED, false, false",
        "SHARED, true, false",
        "SHARED, false, true"
    })
    void a_waiter_who_asks_again_is_answered_with_its_own_grant(LockMode mode, boolean last, boolean lapsed) {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = waiting(request(KEY, mode, TTL));
        queued(waiter);
        release(holder);
        Fence fence = granted(waiter.fromQueue()).fence();
        if (lapsed) {
            expireLease(waiter);
        }

        Fence again =
                granted((last ? lastTry(waiter) : waiting(waiter)).fromQueue()).fence();

        assertThat(again).is(nth(lapsed ? 3 : 2));
        assertThat(again.equals(fence)).isNotEqualTo(lapsed);
        assertThat(backend().lookup(KEY))
                .singleElement()
                .satisfies(info -> assertThat(info.fence()).isEqualTo(again));
        release(waiter);
        assertThat(backend().isLocked(KEY)).isFalse();
    }

    @Test
    void many_are_ended_in_one_call_and_answered_one_by_one() {
        AcquireRequest reader = held(reader());
        AcquireRequest waiting = queuedWriter();
        AcquireRequest lapsed = held(request("lapsed", LockMode.EXCLUSIVE, TTL));
        expireLease(lapsed);
        AcquireRequest writer = held(request("written", LockMode.EXCLUSIVE, TTL));

        List<ReleaseResult> outcomes = backend()
                .releaseAll(List.of(
                        waiting.keyedLockId(),
                        newKeyedLockId(),
                        lapsed.keyedLockId(),
                        writer.keyedLockId(),
                        reader.keyedLockId()));

        assertThat(outcomes)
                .containsExactly(
                        ReleaseResult.LEFT,
                        ReleaseResult.NOT_FOUND,
                        ReleaseResult.EXPIRED,
                        ReleaseResult.RELEASED,
                        ReleaseResult.RELEASED);
        assertThat(backend().isLocked("written")).isFalse();
        granted(writer());
    }

    @Test
    void a_try_that_does_not_wait_takes_no_queue_entry_and_blocks_nobody() {
        AcquireRequest reader = held(reader());
        refused(writer());

        granted(reader());
        release(reader);
        refused(writer());
    }

    @Test
    void a_try_that_does_not_wait_yields_to_whoever_waits_and_is_in_its_way() {
        AcquireRequest reader = held(reader());
        queuedWriter();
        refused(reader());

        release(reader);

        refused(reader());
        refused(writer());
    }

    @Test
    void a_reader_that_does_not_wait_enters_beside_a_reader_that_waits() {
        AcquireRequest writer = held(writer());
        queuedReader();
        release(writer);

        granted(reader());
    }

    @BugOf("distkit: readers starve while writers keep coming")
    @Test
    void a_writer_that_comes_later_does_not_pass_a_reader_that_waits() {
        AcquireRequest writer = held(writer());
        AcquireRequest reader = queuedReader();
        AcquireRequest later = queuedWriter();

        release(writer);

        queued(later);
        refused(writer());
        granted(reader);
        queued(later);
    }

    @Test
    void a_reader_that_comes_later_does_not_pass_a_writer_that_waits() {
        AcquireRequest holder = held(reader());
        AcquireRequest writer = queuedWriter();
        AcquireRequest later = waitingReader();

        queued(elsewhere(), later);
        release(holder);

        queued(elsewhere(), later);
        granted(writer);
        release(writer);
        granted(elsewhere(), later);
    }

    @Test
    void writers_of_several_processes_enter_in_the_order_of_arrival_whoever_asks_first() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = waitingWriter();
        queued(elsewhere(), second);
        AcquireRequest third = queuedWriter();
        release(holder);

        queued(third);
        queued(elsewhere(), second);
        Fence firstFence = granted(first).fence();
        release(first);
        queued(third);
        Fence secondFence = granted(elsewhere(), second).fence();
        release(second);
        Fence thirdFence = granted(third).fence();

        assertThat(firstFence).is(nth(2));
        assertThat(secondFence).is(nth(3));
        assertThat(thirdFence).is(nth(4));
    }

    /** In distkit the alphabet orders arrivals in the same millisecond. Here each arrival draws a number. */
    @Test
    void the_order_is_that_of_arrival_and_not_that_of_lock_ids_also_in_the_same_millisecond() {
        AcquireRequest holder = held(writer());
        AcquireRequest last = waiting(Requests.exclusive(KEY, lockId("z"), TTL, "test"));
        AcquireRequest middle = waiting(Requests.exclusive(KEY, lockId("m"), TTL, "test"));
        AcquireRequest first = waiting(Requests.exclusive(KEY, lockId("a"), TTL, "test"));
        queued(last);
        queued(middle);
        queued(first);
        release(holder);

        queued(first);
        queued(middle);
        granted(last);
    }

    private String lockId(String letter) {
        return backend().lockIdFor(KEY, letter.repeat(22));
    }

    @Test
    void who_asks_again_keeps_its_queue_entry() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        queued(first);
        release(holder);

        queued(second);
        granted(first);
    }

    @Test
    void a_writer_that_another_writer_keeps_out_has_its_queue_entry_before_readers_that_come_later() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiting = queuedWriter();
        AcquireRequest reader = queuedReader();
        release(holder);

        queued(reader);
        granted(waiting);
    }

    @Test
    void readers_next_to_each_other_enter_together_and_everybody_else_waits_for_them() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = queuedReader();
        AcquireRequest writer = queuedWriter();
        AcquireRequest later = queuedReader();
        release(holder);

        granted(second);
        granted(first);
        queued(writer);
        queued(later);
        release(first);
        queued(writer);
        release(second);
        granted(writer);
        queued(later);
        release(writer);
        granted(later);
    }

    @Test
    void a_last_try_that_is_refused_gives_up_the_queue_entry() {
        AcquireRequest holder = held(reader());
        AcquireRequest writer = queuedWriter();
        AcquireRequest reader = queuedReader();

        refused(lastTry(writer));

        assertThat(backend().release(writer.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        granted(reader);
        release(holder);
    }

    /** Otherwise the entry would block others again if the server's clock stepped back. */
    @Test
    void a_last_try_also_gives_up_a_queue_entry_that_lapsed() {
        AcquireRequest holder = held(writer());
        AcquireRequest late = queuedWriter();
        expireQueueEntry(late);

        refused(new AcquireRequest(late.key(), late.lockId(), late.options(), true, null));

        store().endQueueEntryIn(late.lockId(), TTL);
        release(holder);
        granted(writer());
    }

    @Test
    void a_last_try_is_granted_at_the_queue_entry_that_was_waited_for() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        queuedWriter();
        release(holder);

        granted(lastTry(first));
    }

    @Test
    void a_waiter_leaves_once_and_those_behind_it_go_on() {
        held(reader());
        AcquireRequest writer = queuedWriter();
        AcquireRequest reader = queuedReader();

        assertThat(elsewhere().release(writer.keyedLockId())).isEqualTo(ReleaseResult.LEFT);

        assertThat(backend().release(writer.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        granted(reader);
    }

    @Test
    void leaving_gives_back_a_grant_that_the_queue_entry_has_become() {
        AcquireRequest holder = held(writer());
        AcquireRequest writer = queuedWriter();
        release(holder);
        granted(writer);

        assertThat(backend().release(writer.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);

        assertThat(backend().isLocked(KEY)).isFalse();
        granted(writer());
    }

    @Test
    void who_leaves_does_not_touch_what_others_hold() {
        AcquireRequest holder = held(reader());
        AcquireRequest writer = queuedWriter();

        leave(writer);

        assertThat(backend().lookupById(holder.lockId())).isPresent();
        refused(writer());
    }

    @Test
    void a_waiter_that_died_falls_out_when_its_queue_entry_is_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest dead = queuedWriter();
        AcquireRequest next = queuedWriter();
        release(holder);
        queued(next);

        expireQueueEntry(dead);

        granted(next);
    }

    @Test
    void a_queue_entry_that_lapsed_is_lost_and_who_comes_back_stands_at_the_end() {
        AcquireRequest holder = held(writer());
        AcquireRequest late = queuedWriter();
        AcquireRequest next = queuedWriter();
        expireQueueEntry(late);

        queued(late);
        release(holder);

        queued(late);
        granted(next);
        release(next);
        granted(late);
    }

    @Test
    void the_queue_of_one_key_is_not_in_the_way_of_another() {
        held(writer());
        queuedWriter();
        AcquireRequest other = held(request("order:43", LockMode.EXCLUSIVE, TTL));
        AcquireRequest waiting = waiting(request("order:43", LockMode.EXCLUSIVE, TTL));
        queued(waiting);
        release(other);

        assertThat(renewQueueEntry(waiting)).isZero();
        granted(waiting);
    }

    @Test
    void leases_of_one_caller_end_together_and_a_waiter_for_one_of_them_is_served() {
        List<AcquireRequest> leases = Stream.of("a", "b", "c")
                .map(key -> held(request(key, LockMode.EXCLUSIVE, TTL)))
                .toList();
        AcquireRequest waiter = waiting(request("b", LockMode.EXCLUSIVE, TTL));
        queued(elsewhere(), waiter);
        List<KeyedLockId> ids =
                new ArrayList<>(leases.stream().map(AcquireRequest::keyedLockId).toList());
        ids.add(newKeyedLockId());

        assertThat(backend().releaseTogether(ids))
                .containsExactly(
                        ReleaseResult.RELEASED,
                        ReleaseResult.RELEASED,
                        ReleaseResult.RELEASED,
                        ReleaseResult.NOT_FOUND);

        assertThat(Stream.of("a", "b", "c").filter(backend()::isLocked)).isEmpty();
        granted(elsewhere(), waiter.fromQueue());
    }
}
