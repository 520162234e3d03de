package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The waiters that every backend wakes after a change: those that can be granted the key because of it, in all
 * processes, and no others.
 */
public abstract class WokenWaitersContract extends ListeningFixture {

    @Test
    void a_release_wakes_the_writer_who_is_first_and_nobody_behind_it() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        queuedWriter();
        queuedReader();
        queued(elsewhere(), waitingWriter());

        release(holder);

        assertWoken(first);
        assertNobodyIsWokenElsewhere();
    }

    @Test
    void a_release_in_one_process_wakes_a_waiter_of_another() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = waitingWriter();
        queued(elsewhere(), first);

        release(holder);

        assertNobodyIsWoken();
        assertWokenElsewhere(first);
    }

    @Test
    void a_release_wakes_all_readers_who_are_first_in_all_processes_and_nobody_behind_them() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = waitingReader();
        queued(elsewhere(), second);
        AcquireRequest third = queuedReader();
        queuedWriter();
        queuedReader();

        release(holder);

        assertWoken(first, third);
        assertWokenElsewhere(second);
    }

    @Test
    void of_several_readers_the_last_to_leave_wakes_the_writer_who_waits() {
        AcquireRequest first = held(reader());
        AcquireRequest second = held(reader());
        AcquireRequest writer = queuedWriter();
        queuedReader();

        release(first);
        assertNobodyIsWoken();
        release(second);

        assertWoken(writer);
    }

    @Test
    void a_lease_that_lapsed_keeps_nobody_from_being_woken() {
        AcquireRequest lapsed = held(reader());
        AcquireRequest last = held(reader());
        AcquireRequest writer = queuedWriter();
        expireLease(lapsed);

        release(last);

        assertWoken(writer);
    }

    @Test
    void of_many_who_leave_together_the_first_who_stays_is_woken_once_and_those_behind_it_are_not() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedReader();
        AcquireRequest stays = queuedWriter();
        AcquireRequest third = queuedWriter();
        queuedReader();

        backend().releaseAll(List.of(third.keyedLockId(), second.keyedLockId(), first.keyedLockId()));

        assertWoken(stays);
        release(holder);
        assertWoken(stays);
    }

    @Test
    void a_joint_release_wakes_grantable_waiters_and_hands_nothing_over() {
        AcquireRequest first = held(reader());
        AcquireRequest second = held(reader());
        AcquireRequest other = held(request("other", LockMode.EXCLUSIVE, TTL));
        AcquireRequest writer = queuedWriter();
        AcquireRequest elsewhere = waiting(request("other", LockMode.EXCLUSIVE, TTL));
        queued(elsewhere(), elsewhere);

        backend().releaseAll(List.of(first.keyedLockId(), other.keyedLockId(), second.keyedLockId()));

        assertWoken(writer);
        assertWokenElsewhere(elsewhere);
        granted(writer);
        assertThat(backend().lookup("other")).isEmpty();
    }

    @Test
    void nothing_is_sent_when_nobody_waits() {
        AcquireRequest writer = held(writer());
        AcquireRequest refused = writer();
        refused(refused);
        release(writer);
        AcquireRequest reader = held(reader());
        extend(reader, Duration.ofMinutes(1));
        release(reader);

        assertNobodyIsWoken();
        assertNobodyIsWokenElsewhere();
    }

    @Test
    void who_was_granted_or_has_left_is_not_woken_any_more() {
        AcquireRequest holder = held(writer());
        AcquireRequest left = queuedWriter();
        AcquireRequest next = queuedWriter();
        leave(left);
        assertWoken(next);
        release(holder);
        assertWoken(next);
        granted(next);

        release(next);

        assertNobodyIsWoken();
    }

    @Test
    void a_release_of_one_key_wakes_nobody_who_waits_for_another() {
        held(writer());
        queuedWriter();
        AcquireRequest other = held(request("order:43", LockMode.EXCLUSIVE, TTL));
        AcquireRequest waiting = waiting(request("order:43", LockMode.EXCLUSIVE, TTL));
        queued(waiting);

        release(other);

        assertWoken(waiting);
    }

    @Test
    void a_release_that_ends_nothing_wakes_nobody() {
        AcquireRequest stale = held(reader());
        expireLease(stale);
        held(reader());
        queuedWriter();

        backend().release(stale.keyedLockId());
        backend().release(newLockId());

        assertNobodyIsWoken();
    }

    @Test
    void a_waiter_that_leaves_wakes_grantable_waiters_behind_it() {
        held(reader());
        AcquireRequest writer = queuedWriter();
        AcquireRequest first = queuedReader();
        AcquireRequest second = queuedReader();
        AcquireRequest next = queuedWriter();
        queuedReader();

        leave(writer);

        assertWoken(first, second, next);
    }

    /**
     * The readers behind the first writer are granted the key at once, so they do not learn when the shortened lease
     * ends. The writer behind them has to learn it.
     */
    @Test
    void a_writer_who_leaves_has_the_writer_behind_readers_look_when_a_lease_is_over_that_was_shortened() {
        AcquireRequest shortened = held(reader());
        AcquireRequest first = queuedWriter();
        AcquireRequest reader = queuedReader();
        AcquireRequest writer = queuedWriter();
        extend(shortened, Duration.ofMinutes(1));
        assertWoken(first);

        leave(first);
        assertWoken(reader, writer);
        granted(reader);
        release(reader);

        assertNobodyIsWoken();
        assertThat(queued(writer).nextLook()).isLessThanOrEqualTo(Duration.ofSeconds(61));
    }

    @Test
    void a_waiter_that_gives_up_at_its_last_attempt_wakes_grantable_waiters_behind_it() {
        held(reader());
        AcquireRequest writer = queuedWriter();
        AcquireRequest reader = queuedReader();
        AcquireRequest next = queuedWriter();

        refused(lastTry(writer));

        assertWoken(reader, next);
    }

    /**
     * The waiters behind the first one relied on its polls. The first one may know that a lease ends earlier, while
     * they do not.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_waiter_who_leaves_has_who_is_first_now_look_again_although_the_key_is_held(boolean atItsLastTry) {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedReader();
        AcquireRequest third = queuedReader();
        AcquireRequest writer = queuedWriter();
        extend(holder, Duration.ofMinutes(1));
        assertWoken(first);

        if (atItsLastTry) {
            refused(lastTry(first));
        } else {
            leave(first);
        }

        assertWoken(second, third, writer);
    }

    @Test
    void a_writer_who_leaves_has_the_next_writer_look_again_although_somebody_reads() {
        held(reader());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        queuedWriter();

        leave(first);

        assertWoken(second);
    }

    @Test
    void a_reader_who_leaves_wakes_no_reader_whom_it_did_not_keep_from_looking() {
        held(writer());
        queuedReader();
        AcquireRequest leaving = queuedReader();
        queuedReader();
        queuedWriter();

        leave(leaving);

        assertNobodyIsWoken();
    }

    @Test
    void the_last_reader_in_front_who_leaves_has_the_writer_behind_look_again() {
        held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = queuedReader();
        AcquireRequest writer = queuedWriter();

        leave(first);
        assertNobodyIsWoken();
        leave(second);

        assertWoken(writer);
    }

    @Test
    void a_waiter_who_leaves_from_the_middle_wakes_nobody() {
        held(writer());
        queuedWriter();
        AcquireRequest middle = queuedWriter();
        queuedWriter();

        leave(middle);

        assertNobodyIsWoken();
    }

    @Test
    void a_waiter_who_leaves_the_end_of_the_queue_wakes_nobody() {
        held(reader());
        queuedWriter();
        AcquireRequest last = queuedReader();

        leave(last);

        assertNobodyIsWoken();
    }

    @Test
    void a_waiter_who_died_is_passed_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest dead = queuedWriter();
        AcquireRequest next = queuedWriter();
        expireQueueEntry(dead);

        release(holder);

        assertWoken(next);
    }

    @Test
    void a_dead_writer_does_not_keep_readers_from_being_woken() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest dead = queuedWriter();
        AcquireRequest second = queuedReader();
        expireQueueEntry(dead);

        release(holder);

        assertWoken(first, second);
    }

    /**
     * The first writer is woken, too: the readers may be granted and released before its next poll, which is due at the
     * former end of the lease.
     */
    @Test
    void an_extension_that_shortens_has_those_who_are_first_and_the_first_writer_look_when_it_is_over() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = queuedReader();
        AcquireRequest writer = queuedWriter();
        queuedReader();
        queuedWriter();

        extend(holder, Duration.ofMinutes(1));

        assertWoken(first, second, writer);
    }

    @Test
    void an_extension_of_a_reader_that_shortens_wakes_the_writer_who_is_first() {
        held(reader());
        AcquireRequest reader = held(reader());
        AcquireRequest writer = queuedWriter();
        queuedReader();
        queuedWriter();

        extend(reader, Duration.ofMinutes(1));

        assertWoken(writer);
    }

    @Test
    void an_extension_of_a_reader_that_shortens_wakes_the_first_writer_behind_waiting_readers_too() {
        AcquireRequest holder = held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = queuedReader();
        AcquireRequest writer = queuedWriter();
        queuedWriter();
        release(holder);
        assertWoken(first, second);
        granted(first);

        extend(first, Duration.ofMinutes(1));

        assertWoken(second, writer);
    }

    @Test
    void an_extension_that_lengthens_wakes_nobody() {
        AcquireRequest first = held(reader());
        AcquireRequest other = held(request("order:43", LockMode.EXCLUSIVE, TTL));
        queuedWriter();
        queued(waiting(request("order:43", LockMode.SHARED, TTL)));

        extend(first, Duration.ofHours(1));
        extend(other, Duration.ofHours(1));

        assertNobodyIsWoken();
    }

    @Test
    void a_next_fence_of_the_holder_wakes_nobody() {
        AcquireRequest holder = held(writer(Duration.ofMinutes(1)));
        queuedReader();
        queuedWriter();

        rotate(holder, Duration.ofHours(1));

        assertNobodyIsWoken();
    }

    @Test
    void a_next_fence_that_ends_the_lease_earlier_has_those_who_are_first_look_when_it_is_over() {
        AcquireRequest holder = held(writer(Duration.ofHours(1)));
        AcquireRequest first = queuedWriter();
        queuedWriter();

        rotate(holder, Duration.ofMinutes(1));

        assertWoken(first);
    }

    @Test
    void who_cannot_be_woken_keeps_nobody_else_from_it() {
        StoreCalls disconnected = open();
        AcquireRequest holder = held(writer());
        queued(disconnected, waitingReader());
        AcquireRequest reader = queuedReader();

        release(holder);

        assertWoken(reader);
    }

    @Test
    void a_forced_release_of_one_permit_wakes_the_first_who_waits_for_one() {
        Fence seen = granted(limited(2)).fence();
        held(limited(2));
        AcquireRequest first = waiting(limited(2));
        queued(first);
        queued(waiting(limited(2)));

        backend().forceRelease(KEY, seen);

        assertWoken(first);
    }

    @Test
    void a_forced_release_wakes_those_who_can_be_granted_the_key_in_all_processes_and_nobody_behind_them() {
        held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = waitingReader();
        queued(elsewhere(), second);
        queuedWriter();

        backend().forceRelease(KEY);

        assertWoken(first);
        assertWokenElsewhere(second);
    }

    @Test
    void a_forced_release_that_ends_nothing_wakes_nobody() {
        held(writer());
        queuedWriter();
        backend().forceRelease(KEY);
        awaitEverythingSentSoFar();
        here.woken.clear();

        backend().forceRelease(KEY);

        assertNobodyIsWoken();
    }

    protected final void assertWoken(AcquireRequest... waiters) {
        assertWoken(here, waiters);
    }

    private void assertWokenElsewhere(AcquireRequest... waiters) {
        assertWoken(there, waiters);
    }

    protected final void assertNobodyIsWoken() {
        assertWoken(here);
    }

    private void assertNobodyIsWokenElsewhere() {
        assertWoken(there);
    }

    private void assertWoken(RecordingWakeUpListener process, AcquireRequest... waiters) {
        awaitEverythingSentSoFar();
        assertThat(process.woken).containsExactlyInAnyOrderElementsOf(numbers(waiters));
        process.woken.clear();
    }

    private static List<Long> numbers(AcquireRequest... waiters) {
        return List.of(waiters).stream().map(AcquireRequest::waiterNumber).toList();
    }
}
