package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static io.syncguard.autoconfigure.StockDatabase.lapse;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.UsualBuild;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A lock that is acquired inside a transaction stays taken until the transaction ends, whichever thread gives it back,
 * and where.
 */
class AcquiringTransactionTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StockDatabase database = new StockDatabase();

    /** The ways to give back a lock while the transaction in which it was acquired is open. */
    enum Way {
        ANOTHER_THREAD((application, lock) -> elsewhere(lock::release)),
        ANOTHER_THREAD_BY_LOCK_ID(
                (application, lock) -> elsewhere(() -> locks(application).release(lock.lockId()))),
        ANOTHER_TRANSACTION(
                (application, lock) -> in(TransactionDefinition.PROPAGATION_REQUIRES_NEW, application, lock)),
        A_SUSPENDED_TRANSACTION(
                (application, lock) -> in(TransactionDefinition.PROPAGATION_NOT_SUPPORTED, application, lock)),
        A_SAVEPOINT((application, lock) -> in(TransactionDefinition.PROPAGATION_NESTED, application, lock));

        private final Release release;

        Way(Release release) {
            this.release = release;
        }

        interface Release {
            boolean send(ApplicationContext application, LockHandle lock);
        }
    }

    static Stream<Way> ways() {
        return UsualBuild.first(2, Stream.of(Way.values()));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_lock_is_released_after_the_transaction_in_which_it_was_acquired(Way way) {
        database.run(application -> {
            LockHandle[] lock = new LockHandle[1];
            inTransaction(application, jdbc -> {
                lock[0] = locks(application).acquire(ORDER);
                jdbc.update("UPDATE stock SET amount = 1");

                assertThat(way.release.send(application, lock[0])).isTrue();
                assertThat(way.release.send(application, lock[0]))
                        .as("a second time")
                        .isFalse();
                assertThat(lock[0].isHeld()).isTrue();
                assertThat(database.lockedKeys()).containsExactly("order:1");
                assertThat(database.amount()).isZero();
            });
            assertThat(lock[0].state()).isEqualTo(LockHandle.State.RELEASED);
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @ParameterizedTest
    @MethodSource("ways")
    void it_is_released_after_a_rollback_as_well(Way way) {
        database.run(application -> {
            application.getBean(TransactionTemplate.class).executeWithoutResult(transaction -> {
                way.release.send(application, locks(application).acquire(ORDER));
                transaction.setRollbackOnly();
                assertThat(database.lockedKeys()).containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_further_request_in_that_transaction_joins_it(Way way) {
        database.run(application -> {
            inTransaction(application, jdbc -> {
                LockHandle lock = locks(application).acquire(ORDER);
                way.release.send(application, lock);

                LockHandle further = locks(application).acquire(ORDER.waitTime(Duration.ZERO));
                assertThat(further.fence()).isEqualTo(lock.fence());
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @ParameterizedTest
    @MethodSource("ways")
    void a_lock_that_is_lost_after_its_release_rolls_the_transaction_back(Way way) {
        database.run(application -> {
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        LockHandle lock = locks(application).acquire(ORDER.noHeartbeat());
                        jdbc.update("UPDATE stock SET amount = 1");
                        assertThat(way.release.send(application, lock)).isTrue();
                        lapse(lock);
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isZero();
        });
    }

    @Test
    void a_lock_that_is_not_given_back_outlives_the_transaction() {
        database.run(application -> {
            LockHandle[] lock = new LockHandle[1];
            inTransaction(application, jdbc -> lock[0] = locks(application).acquire(ORDER));

            assertThat(database.lockedKeys()).containsExactly("order:1");
            assertThat(elsewhere(lock[0]::release)).isTrue();
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_that_is_given_back_in_a_transaction_of_another_thread_is_released_when_both_have_ended() {
        database.run(application -> {
            CountDownLatch givenBack = new CountDownLatch(1);
            CountDownLatch firstEnded = new CountDownLatch(1);
            LockHandle[] lock = new LockHandle[1];
            FutureTask<Void> second = new FutureTask<>(
                    () -> inTransaction(application, jdbc -> {
                        lock[0].release();
                        givenBack.countDown();
                        pass(firstEnded);
                    }),
                    null);
            inTransaction(application, jdbc -> {
                lock[0] = locks(application).acquire(ORDER);
                new Thread(second).start();
                pass(givenBack);
            });
            assertThat(database.lockedKeys()).containsExactly("order:1");

            firstEnded.countDown();
            get(second);
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_future_that_is_done_before_the_transaction_ends_keeps_its_lock_until_then() {
        database.runner().withUserConfiguration(Shipping.class).run(application -> {
            inTransaction(application, jdbc -> {
                Shipping shipping = application.getBean(Shipping.class);
                CompletableFuture<String> shipped = shipping.ship("1");
                elsewhere(() -> shipping.done().complete("shipped"));

                // The body runs on a thread of the library.
                assertThat(shipped).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("shipped");
                assertThat(database.lockedKeys()).containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    private static LockManager locks(ApplicationContext application) {
        return application.getBean(LockManager.class);
    }

    private static boolean in(int propagation, ApplicationContext application, LockHandle lock) {
        TransactionTemplate inner = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
        inner.setPropagationBehavior(propagation);
        return inner.execute(transaction -> {
            transaction.setRollbackOnly();
            return lock.release();
        });
    }

    private static <T> T elsewhere(Callable<T> work) {
        return get(inAnotherThread(work));
    }

    private static <T> T get(FutureTask<T> task) {
        try {
            return got(task);
        } catch (Exception ex) {
            throw new AssertionError(ex);
        }
    }

    private static void pass(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    static class Shipping {

        private final CompletableFuture<String> done = new CompletableFuture<>();

        @DistributedLock(name = "order", key = "#id")
        public CompletableFuture<String> ship(String id) {
            return done;
        }

        public CompletableFuture<String> done() {
            return done;
        }
    }
}
