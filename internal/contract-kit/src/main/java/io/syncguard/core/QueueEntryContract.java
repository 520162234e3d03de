package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The guarantees of every backend for a queue entry: how long it lives, and when its waiter or a refused caller may
 * look again.
 */
public abstract class QueueEntryContract extends ContractFixture {

    @Test
    void renewing_does_not_bring_back_a_queue_entry_that_lapsed() {
        AcquireRequest holder = held(writer());
        AcquireRequest late = queuedWriter();
        expireQueueEntry(late);

        assertThat(renewQueueEntry(late)).isZero();
        release(holder);

        granted(writer());
    }

    @Test
    void renewing_a_queue_entry_has_it_live_another_waiter_ttl() {
        held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        store().endQueueEntryIn(first.lockId(), tenths(4));
        assertLeft(queued(second).nextLook(), tenths(4));

        renewQueueEntry(first);

        assertLeft(queued(second).nextLook(), backend().waiterTtl());
    }

    @Test
    void asking_again_has_a_queue_entry_live_another_waiter_ttl() {
        held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        store().endQueueEntryIn(first.lockId(), tenths(4));

        queued(first);

        assertLeft(queued(second).nextLook(), backend().waiterTtl());
    }

    @Test
    void renewing_one_queue_entry_renews_no_other() {
        held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        AcquireRequest third = queuedWriter();
        store().endQueueEntryIn(first.lockId(), tenths(4));

        renewQueueEntry(second);

        assertLeft(queued(third).nextLook(), tenths(4));
    }

    @Test
    void queue_entries_are_renewed_for_many_at_once_and_answered_in_the_order_asked() {
        Duration lease = tenths(5);
        held(request("a", LockMode.EXCLUSIVE, lease));
        AcquireRequest onA = waiting(request("a", LockMode.SHARED, TTL));
        queued(onA);
        AcquireRequest holderOfB = held(request("b", LockMode.EXCLUSIVE, TTL));
        AcquireRequest firstOnB = waiting(request("b", LockMode.SHARED, TTL));
        AcquireRequest secondOnB = waiting(request("b", LockMode.SHARED, TTL));
        AcquireRequest thirdOnB = waiting(request("b", LockMode.EXCLUSIVE, TTL));
        List.of(firstOnB, secondOnB, thirdOnB).forEach(this::queued);
        release(holderOfB);
        held(writer());
        AcquireRequest lost = queuedWriter();
        expireQueueEntry(lost);
        AcquireRequest last = queuedWriter();

        List<Duration> answers = backend()
                .renewWaiters(List.of(
                        last.keyedLockId(),
                        lost.keyedLockId(),
                        thirdOnB.keyedLockId(),
                        secondOnB.keyedLockId(),
                        newKeyedLockId(),
                        onA.keyedLockId(),
                        firstOnB.keyedLockId()));

        assertThat(answers).hasSize(7);
        assertLeft(answers.get(0), TTL.plus(TOLERANCE));
        assertThat(answers.get(1)).as("a lost queue entry").isZero();
        assertLeft(answers.get(2), backend().waiterTtl());
        assertThat(answers.get(3)).as("a reader behind a reader").isZero();
        assertThat(answers.get(4)).as("an unknown lock id").isZero();
        assertLeft(answers.get(5), lease.plus(TOLERANCE));
        assertThat(answers.get(6)).as("the first").isZero();
    }

    /**
     * The end of the last lease does not count: that lease may be released before, and a release wakes no waiter while
     * other leases block it.
     */
    @Test
    void the_next_look_of_a_waiter_is_when_the_first_of_the_leases_in_its_way_is_over() {
        held(reader(tenths(2)));
        held(reader(tenths(4)));
        held(reader(tenths(1)));
        AcquireRequest writer = waitingWriter();

        assertLeft(queued(writer).nextLook(), tenths(1).plus(TOLERANCE));
        assertLeft(renewQueueEntry(writer), tenths(1).plus(TOLERANCE));
    }

    @Test
    void the_next_look_of_a_waiter_is_when_somebody_in_front_may_have_died_if_that_is_earlier() {
        held(writer());
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedReader();
        AcquireRequest third = waitingWriter();
        store().endQueueEntryIn(first.lockId(), tenths(6));
        store().endQueueEntryIn(second.lockId(), tenths(4));

        assertLeft(queued(third).nextLook(), tenths(4));
        assertLeft(renewQueueEntry(third), tenths(4));
        assertLeft(renewQueueEntry(first), TTL.plus(TOLERANCE));
    }

    @Test
    void the_next_look_of_a_waiter_is_when_the_leases_are_over_if_that_is_earlier_than_any_queue_entry() {
        held(writer(tenths(3)));
        queuedWriter();
        AcquireRequest second = waitingWriter();

        assertLeft(queued(second).nextLook(), tenths(3).plus(TOLERANCE));
        assertLeft(renewQueueEntry(second), tenths(3).plus(TOLERANCE));
    }

    @Test
    void a_waiter_does_not_look_at_a_queue_entry_in_front_that_has_lapsed() {
        held(writer());
        AcquireRequest dead = queuedWriter();
        AcquireRequest next = waitingWriter();
        queued(next);
        expireQueueEntry(dead);

        assertLeft(queued(next).nextLook(), TTL.plus(TOLERANCE));
        assertLeft(renewQueueEntry(next), TTL.plus(TOLERANCE));
    }

    @Test
    void a_reader_does_not_look_at_what_is_not_in_its_way() {
        held(reader(tenths(1)));
        AcquireRequest writer = queuedWriter();
        AcquireRequest first = queuedReader();
        AcquireRequest second = waitingReader();
        store().endQueueEntryIn(writer.lockId(), tenths(8));
        store().endQueueEntryIn(first.lockId(), tenths(4));

        assertLeft(queued(second).nextLook(), tenths(8));
        assertLeft(renewQueueEntry(second), tenths(8));
    }

    @Test
    void a_refusal_says_when_the_last_of_the_leases_in_its_way_is_over() {
        held(reader(Duration.ofMinutes(1)));
        held(reader(Duration.ofMinutes(3)));
        held(reader(Duration.ofMinutes(2)));

        assertLeft(refused(writer()).timeLeft(), Duration.ofMinutes(3).plus(TOLERANCE));
    }

    @Test
    void a_refusal_says_when_the_last_of_the_queue_entries_in_front_is_over_if_that_is_later() {
        held(reader(tenths(1)));
        AcquireRequest first = queuedWriter();
        AcquireRequest second = queuedWriter();
        store().endQueueEntryIn(first.lockId(), tenths(8));
        store().endQueueEntryIn(second.lockId(), tenths(6));

        assertLeft(refused(reader()).timeLeft(), tenths(8));
        assertLeft(refused(writer()).timeLeft(), tenths(8));
    }

    @Test
    void a_refusal_says_when_the_leases_are_over_if_that_is_later_than_any_queue_entry() {
        held(reader());
        queuedWriter();

        assertLeft(refused(writer()).timeLeft(), TTL.plus(TOLERANCE));
        assertLeft(refused(reader()).timeLeft(), backend().waiterTtl());
    }

    /** This number of tenths of the waiter ttl. */
    private Duration tenths(int n) {
        return backend().waiterTtl().multipliedBy(n).dividedBy(10);
    }
}
