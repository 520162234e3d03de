package io.syncguard.core;

import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks that are given back inside a transaction of the caller. */
class TransactionBoundaryTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    /** The actions before the commit and at the end of the transaction. The test runs them. */
    private final List<Runnable> beforeCommit = new ArrayList<>();

    private final List<Runnable> atTheEnd = new ArrayList<>();

    /** Whether the thread of the test is in a transaction. Other threads never are. */
    private boolean inTransaction = true;

    private final Thread thread = Thread.currentThread();

    /** The lock ids of the leases to which the transaction is bound. */
    private final Set<String> bound = new HashSet<>();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture((lease, release) -> inTransaction
                    && Thread.currentThread() == thread
                    && bound.add(lease.lockId())
                    && beforeCommit.add(lease::requireHeld)
                    && atTheEnd.add(release)
            ? 1
            : 0);

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @Test
    void a_lock_is_released_when_the_transaction_has_ended_and_not_before() {
        LockHandle lock = template.execute("order:42", held -> held);
        assertThat(locks.isLocked("order:42")).isTrue();
        assertThat(lock.isHeld()).as("until the transaction ends").isTrue();
        assertThat(fixture.events).doesNotContain("released");

        endTransaction();

        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
    }

    @Test
    void a_second_use_of_the_key_in_the_same_transaction_joins_the_first() {
        LockHandle first = template.execute("order:42", held -> held);
        LockHandle second = template.execute("order:42", held -> held);

        assertThat(second.fence()).isEqualTo(first.fence());
        assertThat(fixture.backend.acquires).hasValue(1);
        endTransaction();
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(locks.tryAcquire(REQUEST).fence().value())
                .as("the lock is no longer joined")
                .isEqualTo(2);
    }

    @Test
    void a_lock_whose_release_is_put_off_is_released_once() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(lock.release()).isTrue();
        assertThat(lock.release()).isFalse();
        endTransaction();

        assertThat(fixture.backend.releases).hasValue(1);
    }

    @Test
    void keys_that_travel_together_are_released_when_the_transaction_has_ended_and_the_others_at_once() {
        inTransaction = false;
        LockHandles outside = locks.acquire(List.of(LockRequest.of("a"), LockRequest.of("b")));
        inTransaction = true;
        LockHandles inside = locks.acquire(List.of(LockRequest.of("c"), LockRequest.of("d")));
        inTransaction = false;

        inside.close();
        outside.close();

        assertThat(Stream.of("a", "b", "c", "d").filter(locks::isLocked)).containsExactly("c", "d");
        assertThat(fixture.backend.releasesTogether).hasValue(1);
        inTransaction = true;
        endTransaction();
        assertThat(Stream.of("c", "d").filter(locks::isLocked)).isEmpty();
    }

    @Test
    void a_lock_that_is_lost_before_the_transaction_ends_keeps_it_from_committing_and_is_reported() {
        LockHandle lock = template.execute(REQUEST.noHeartbeat(), held -> held);
        fixture.time.advance(EngineFixture.TTL);

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThatThrownBy(() -> beforeCommit.forEach(Runnable::run)).isInstanceOf(LockLostException.class);
        endTransaction();

        EngineFixture.eventually().until(() -> fixture.events.contains("lost"));
        assertThat(fixture.events).doesNotContain("released");
    }

    @Test
    void a_lock_is_kept_to_the_end_of_the_transaction_when_another_thread_gives_it_back() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(got(inAnotherThread(lock::release))).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
        endTransaction();

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void nothing_of_a_lock_stays_behind_with_a_thread_whose_transaction_another_thread_has_ended() throws Exception {
        WeakReference<LockHandle> lock = new WeakReference<>(template.execute("order:42", held -> held));
        got(inAnotherThread(Executors.callable(this::endTransaction)));
        beforeCommit.clear();

        EngineFixture.eventually().until(() -> {
            System.gc();
            return lock.get() == null;
        });
    }

    @Test
    void a_lock_that_was_not_given_back_in_its_transaction_is_released_at_once_after_it() {
        LockHandle lock = locks.acquire(REQUEST);
        endTransaction();
        assertThat(lock.isHeld()).isTrue();

        inTransaction = false;
        assertThat(lock.release()).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_lock_that_is_granted_while_the_engine_stops_waits_for_no_transaction() {
        fixture.backend.afterAcquire = locks::stop;

        assertThatThrownBy(() -> locks.acquire(REQUEST)).hasMessageContaining("shutting down");
        assertThat(locks.isLocked("order:42")).isFalse();
        endTransaction();
        assertThat(fixture.backend.releases).hasValue(1);
    }

    @Test
    void an_engine_that_stops_takes_back_what_waits_for_a_transaction_and_keeps_that_from_committing()
            throws Exception {
        LockHandle lock = template.execute("order:42", held -> held);
        FutureTask<Void> stopping = inAnotherThread(() -> {
            locks.stop();
            return null;
        });
        EngineFixture.eventually().until(() -> {
            fixture.time.advance(Duration.ofSeconds(1));
            return stopping.isDone();
        });
        got(stopping);

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThatThrownBy(() -> beforeCommit.forEach(Runnable::run)).isInstanceOf(LockLostException.class);
        endTransaction();

        locks.start();
        assertThat(locks.tryAcquire(REQUEST).fence().value())
                .as("the lock is no longer joined")
                .isEqualTo(2);
    }

    private void endTransaction() {
        List.copyOf(atTheEnd).forEach(Runnable::run);
        atTheEnd.clear();
        bound.clear();
    }
}
