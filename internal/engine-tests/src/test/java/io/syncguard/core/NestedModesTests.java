package io.syncguard.core;

import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A thread asks for a key that it already holds, in the same mode or in the other. */
@Timeout(60)
class NestedModesTests {

    private static final LockRequest WRITE = LockRequest.of("order:42");
    private static final LockRequest READ = WRITE.shared();

    /** Whether releases are deferred to the end of a transaction, and the actions for that end. */
    private boolean inTransaction;

    private final List<Runnable> atTheEnd = new ArrayList<>();

    @RegisterExtension
    private final EngineFixture fixture =
            new EngineFixture((lease, release) -> inTransaction && atTheEnd.add(release) ? 1 : 0);

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @Test
    void exclusive_inside_shared_is_refused_at_once() {
        template.executeWithoutResult(READ, reading -> {
            assertRefused(() -> locks.acquire(WRITE));
            assertRefused(() -> template.execute(WRITE, lock -> lock));
            assertThat(reading.isHeld()).isTrue();
        });

        assertThat(fixture.backend.acquires).as("requests to the server").hasValue(1);
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_try_for_exclusive_inside_shared_is_refused_in_the_same_way() {
        template.executeWithoutResult(READ, reading -> {
            assertRefused(() -> locks.tryAcquire(WRITE));
            assertRefused(() -> template.tryExecute(WRITE, lock -> lock));
        });

        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void exclusive_after_a_shared_lock_that_ends_with_the_transaction_is_refused_at_once() {
        inTransaction = true;
        template.execute(READ, reading -> reading);

        assertRefused(() -> locks.acquire(WRITE));

        endTransaction();
        assertThat(locks.tryAcquire(WRITE)).isNotNull();
    }

    @Test
    void exclusive_inside_shared_of_another_key_is_no_nesting() {
        template.executeWithoutResult(READ, reading -> {
            LockHandle other = locks.acquire(WRITE.key("order:43"));

            assertThat(other.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(other.release()).isTrue();
        });
    }

    @Test
    void shared_inside_exclusive_joins_it() throws Exception {
        template.executeWithoutResult(WRITE, writing -> {
            template.executeWithoutResult(READ, reading -> {
                assertThat(reading.fence()).isEqualTo(writing.fence());
                assertThat(reading.lockId()).isEqualTo(writing.lockId());
                assertThat(reading.mode()).isEqualTo(LockMode.EXCLUSIVE);
            });
            LockHandle tried = Objects.requireNonNull(locks.tryAcquire(READ));
            assertThat(tried.release()).isTrue();
            assertThat(writing.isHeld()).isTrue();
            assertThat(inAnotherThread(() -> locks.tryAcquire(READ)).get())
                    .as("a joined reader admits no other reader")
                    .isNull();
        });

        assertThat(fixture.backend.acquires)
                .as("including that of the other thread")
                .hasValue(2);
        assertThat(fixture.backend.releases).hasValue(1);
    }

    @Test
    void shared_inside_shared_joins_it() {
        template.executeWithoutResult(READ, outer -> {
            template.executeWithoutResult(
                    READ, inner -> assertThat(inner.fence()).isEqualTo(outer.fence()));
            assertThat(locks.admin().holders("order:42")).hasSize(1);
        });

        assertThat(fixture.backend.acquires).hasValue(1);
        assertThat(fixture.backend.releases).hasValue(1);
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    /** A request to the server would pass a waiting writer, or wait for a waiter that waits for this thread. */
    @Test
    void shared_inside_shared_joins_it_also_while_a_writer_waits() {
        template.executeWithoutResult(READ, outer -> {
            fixture.queueElsewhere("order:42");

            LockHandle inner = locks.acquire(READ);

            assertThat(inner.fence()).isEqualTo(outer.fence());
        });
    }

    @Test
    void exclusive_inside_shared_inside_exclusive_joins_the_outermost() {
        template.executeWithoutResult(
                WRITE,
                outermost -> template.executeWithoutResult(READ, reading -> {
                    LockHandle inner = locks.acquire(WRITE);

                    assertThat(inner.fence()).isEqualTo(outermost.fence());
                }));

        assertThat(fixture.backend.acquires).hasValue(1);
    }

    @Test
    void a_thread_that_was_handed_the_shared_lock_is_refused_as_well() throws Exception {
        LockHandle reading = locks.acquire(READ);

        assertThat(inAnotherThread(reading.bind(() -> {
                            assertRefused(() -> locks.acquire(WRITE));
                            return "refused";
                        }))
                        .get())
                .isEqualTo("refused");
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(call)
                .withMessageContaining("order:42")
                .withMessageContaining("SHARED")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    private void endTransaction() {
        inTransaction = false;
        atTheEnd.forEach(Runnable::run);
    }
}
