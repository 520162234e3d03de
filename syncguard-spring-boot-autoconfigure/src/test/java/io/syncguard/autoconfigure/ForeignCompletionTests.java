package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.lapse;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A transaction that Spring did not begin may end on any thread: a transaction manager of JTA calls
 * {@code afterCompletion} on the thread that commits, or on one of its own after a timeout.
 */
class ForeignCompletionTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StockDatabase database = new StockDatabase();

    private final OuterTransaction outer = new OuterTransaction();

    @Test
    void a_lock_is_released_by_the_thread_that_ends_the_transaction() {
        database.run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            LockHandle lock = outer.participate(() -> locks.execute(ORDER, held -> held));
            assertThat(lock.isHeld()).as("the transaction is open").isTrue();

            outer.endOnAnotherThread();

            assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(fence(locks)).as("a grant of its own").isEqualTo(2);
        });
    }

    @Test
    void a_lock_that_was_lost_does_not_stand_in_the_way_of_later_requests() {
        database.run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            LockHandle lock = outer.participate(() -> locks.execute(ORDER.noHeartbeat(), held -> held));
            lapse(lock);

            outer.endOnAnotherThread();

            assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
            assertThat(fence(locks)).isEqualTo(2);
        });
    }

    @Test
    void a_lock_that_is_given_back_after_that_is_released_at_once() {
        database.run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = outer.participate(() -> locks.acquire(ORDER));

            outer.endOnAnotherThread();
            assertThat(lock.isHeld()).isTrue();

            assertThat(lock.release()).isTrue();
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    private static long fence(LockTemplate locks) {
        return locks.execute(ORDER, lock -> lock.fence().value());
    }

    /** A transaction that Spring did not begin, in which code under Spring takes part. It commits nothing. */
    private static final class OuterTransaction extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient List<TransactionSynchronization> atEnd = new ArrayList<>();

        <T> T participate(Supplier<T> work) {
            return new TransactionTemplate(this).execute(transaction -> work.get());
        }

        void endOnAnotherThread() {
            try {
                got(inAnotherThread(Executors.callable(
                        () -> invokeAfterCompletion(atEnd, TransactionSynchronization.STATUS_UNKNOWN))));
            } catch (Exception ex) {
                throw new AssertionError(ex);
            }
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return true;
        }

        @Override
        protected void registerAfterCompletionWithExistingTransaction(
                Object transaction, List<TransactionSynchronization> synchronizations) {
            atEnd.addAll(synchronizations);
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            throw new IllegalStateException("There is one already");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            throw new IllegalStateException("It is somebody else's");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            throw new IllegalStateException("It is somebody else's");
        }
    }
}
