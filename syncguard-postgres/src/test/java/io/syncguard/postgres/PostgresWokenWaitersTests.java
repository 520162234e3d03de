package io.syncguard.postgres;

import io.syncguard.core.WokenWaitersContract;
import io.syncguard.spi.AcquireRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresWokenWaitersTests extends WokenWaitersContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    /** The sweeper has to wake them: there may be no waiter left that would itself detect a lapsed entry in front. */
    @Test
    void the_sweeper_wakes_grantable_waiters_because_a_queue_entry_in_front_has_lapsed() {
        held(reader());
        AcquireRequest dead = queuedWriter();
        AcquireRequest reader = queuedReader();
        queuedWriter();
        expireQueueEntry(dead);

        store.sweep(KEY);

        assertWoken(reader);
    }

    @Test
    void the_sweeper_wakes_grantable_waiters_because_a_writer_has_lapsed() {
        AcquireRequest lapsed = held(writer());
        AcquireRequest first = queuedReader();
        AcquireRequest second = queuedReader();
        queuedWriter();
        expireLease(lapsed);

        store.sweep(KEY);

        assertWoken(first, second);
    }

    @Test
    void the_sweeper_wakes_grantable_waiters_because_a_reader_has_lapsed() {
        AcquireRequest lapsed = held(reader());
        AcquireRequest writer = queuedWriter();
        queuedReader();
        expireLease(lapsed);

        store.sweep(KEY);

        assertWoken(writer);
    }

    @Test
    void the_sweeper_wakes_no_waiter_who_cannot_go_on() {
        held(writer());
        queuedWriter();

        store.sweep(KEY);

        assertNobodyIsWoken();
    }
}
