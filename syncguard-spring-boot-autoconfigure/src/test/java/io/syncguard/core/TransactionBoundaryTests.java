package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks that are given back inside a transaction of the caller. */
class TransactionBoundaryTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    /** What is to run before the commit and at the end of the transaction; the test ends it. */
    private final List<Runnable> beforeCommit = new ArrayList<>();

    private final List<Runnable> atTheEnd = new ArrayList<>();

    @RegisterExtension
    private final EngineFixture fixture =
            new EngineFixture((check, release) -> beforeCommit.add(check) && atTheEnd.add(release));

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
                .as("no join any more")
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
    void a_lock_that_is_lost_before_the_transaction_ends_keeps_it_from_committing_and_is_told() {
        LockHandle lock = template.execute(REQUEST.noHeartbeat(), held -> held);
        fixture.time.advance(EngineFixture.TTL);

        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThatThrownBy(() -> beforeCommit.forEach(Runnable::run)).isInstanceOf(LockLostException.class);
        endTransaction();

        EngineFixture.eventually().until(() -> fixture.events.contains("lost"));
        assertThat(fixture.events).doesNotContain("released");
    }

    private void endTransaction() {
        List.copyOf(atTheEnd).forEach(Runnable::run);
        atTheEnd.clear();
    }
}
