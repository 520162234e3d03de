package io.syncguard.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.transaction.support.AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS;
import static org.springframework.transaction.support.AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER;

import io.syncguard.CommitGuard;
import io.syncguard.LockHandle;
import io.syncguard.LockTemplate;
import io.syncguard.core.EngineFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Locks inside transactions at whose end a listener or a synchronization of the application throws. */
class ThrowingListenerTests {

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture(new SpringTransactions("memory", null, CommitGuard.AUTO));

    private final LockTemplate locks = new LockTemplate(fixture.engine);

    /** Throws in one callback. */
    private static final class Throwing implements TransactionExecutionListener {

        private final String callback;
        private final Supplier<Throwable> failure;

        /** Off while the test uses other transactions. */
        private boolean on = true;

        Throwing(String callback, Supplier<Throwable> failure) {
            this.callback = callback;
            this.failure = failure;
        }

        @Override
        public void beforeBegin(TransactionExecution transaction) {
            called("beforeBegin");
        }

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            called("beforeCommit");
        }

        @Override
        public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
            called("afterCommit");
        }

        @Override
        public void beforeRollback(TransactionExecution transaction) {
            called("beforeRollback");
        }

        @Override
        public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
            called("afterRollback");
        }

        private void called(String name) {
            if (on && callback.equals(name)) {
                throw ThrowingListenerTests.<RuntimeException>unchecked(failure.get());
            }
        }
    }

    static Stream<Arguments> callbacks() {
        List<Supplier<Throwable>> failures = List.of(
                () -> new IllegalStateException("of the application"),
                () -> new TransactionSystemException("of the application"),
                () -> new AssertionError("of the application"));
        return Stream.of(SYNCHRONIZATION_ALWAYS, SYNCHRONIZATION_NEVER)
                .flatMap(synchronization -> Stream.of("beforeCommit", "afterCommit", "beforeRollback", "afterRollback")
                        .flatMap(callback -> failures.stream()
                                .map(failure -> Arguments.of(synchronization, new Throwing(callback, failure)))));
    }

    @ParameterizedTest
    @MethodSource("callbacks")
    void a_lock_inside_is_released_at_the_latest_when_the_thread_asks_again(int synchronization, Throwing listener) {
        DataSourceTransactionManager manager = manager(synchronization);
        manager.setTransactionExecutionListeners(List.of(listener));
        listenTo(manager);

        LockHandle first = failingTransaction(manager, listener);
        long second = locks.execute("order:1", lock -> lock.fence().value());

        assertThat(second).as("a grant of its own").isEqualTo(first.fence().value() + 1);
        assertNothingLeft();
    }

    /** An application may add a listener at any time. */
    @ParameterizedTest
    @MethodSource("callbacks")
    void so_is_one_when_the_listener_is_in_front_of_all(int synchronization, Throwing listener) {
        DataSourceTransactionManager manager = manager(synchronization);
        addFirst(listener, manager);

        LockHandle first = failingTransaction(manager, listener);
        long second = locks.execute("order:1", lock -> lock.fence().value());

        assertThat(second).isEqualTo(first.fence().value() + 1);
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(ints = {SYNCHRONIZATION_ALWAYS, SYNCHRONIZATION_NEVER})
    void a_lock_inside_is_released_at_once_after_a_listener_that_was_there_before(int synchronization) {
        Throwing listener = new Throwing("afterCommit", IllegalStateException::new);
        DataSourceTransactionManager manager = manager(synchronization);
        manager.setTransactionExecutionListeners(List.of(listener));
        listenTo(manager);

        assertThat(failingTransaction(manager, listener).state()).isEqualTo(LockHandle.State.RELEASED);
        assertNothingLeft();
    }

    @Test
    void a_lock_inside_is_released_when_the_next_transaction_of_any_manager_begins() {
        Throwing listener = new Throwing("afterCommit", IllegalStateException::new);
        DataSourceTransactionManager manager = manager(SYNCHRONIZATION_NEVER);
        addFirst(listener, manager);
        LockHandle lock = failingTransaction(manager, listener);
        assertThat(lock.isHeld()).as("nothing has told of the end").isTrue();

        DataSourceTransactionManager other = manager(SYNCHRONIZATION_ALWAYS);
        listenTo(other);
        new TransactionTemplate(other).executeWithoutResult(transaction -> {
            assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
            assertThat(fixture.engine.isLocked("order:1")).isFalse();
        });
        assertNothingLeft();
    }

    @Test
    void a_lock_around_the_transaction_is_released_when_its_body_ends() {
        Throwing listener = new Throwing("afterCommit", AssertionError::new);
        DataSourceTransactionManager manager = manager(SYNCHRONIZATION_NEVER);
        addFirst(listener, manager);

        assertThatThrownBy(() -> locks.executeWithoutResult(
                        "order:1", lock -> new TransactionTemplate(manager).executeWithoutResult(transaction -> {})))
                .isInstanceOf(AssertionError.class);

        assertThat(fixture.engine.isLocked("order:1")).isFalse();
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(ints = {SYNCHRONIZATION_ALWAYS, SYNCHRONIZATION_NEVER})
    void the_transaction_around_it_keeps_its_locks_until_its_end(int synchronization) {
        Throwing listener = new Throwing("afterCommit", IllegalStateException::new);
        DataSourceTransactionManager manager = manager(synchronization);
        addFirst(listener, manager);

        new TransactionTemplate(manager).executeWithoutResult(transaction -> {
            locks.executeWithoutResult("outer", lock -> {});
            TransactionTemplate inner = new TransactionTemplate(manager);
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            assertThatThrownBy(
                            () -> inner.executeWithoutResult(same -> locks.executeWithoutResult("inner", lock -> {})))
                    .isInstanceOf(IllegalStateException.class);
            listener.on = false;

            locks.executeWithoutResult("order:1", lock -> {});
            assertThat(fixture.engine.isLocked("inner")).isFalse();
            assertThat(fixture.engine.isLocked("outer")).isTrue();
            assertThat(fixture.engine.isLocked("order:1"))
                    .as("bound to the outer one")
                    .isTrue();
        });

        assertThat(fixture.engine.isLocked("outer")).isFalse();
        assertThat(fixture.engine.isLocked("order:1")).isFalse();
        assertNothingLeft();
    }

    /** Spring then forgets the synchronizations that come after it. */
    @Test
    void a_lock_of_a_transaction_is_released_that_a_synchronization_did_not_resume() {
        DataSourceTransactionManager manager = manager(SYNCHRONIZATION_ALWAYS);
        listenTo(manager);

        assertThatThrownBy(() -> new TransactionTemplate(manager).executeWithoutResult(transaction -> {
                    TransactionSynchronizationManager.registerSynchronization(new First() {
                        @Override
                        public void resume() {
                            throw new IllegalStateException("of the application");
                        }
                    });
                    locks.executeWithoutResult("order:1", lock -> {});
                    TransactionTemplate inner = new TransactionTemplate(manager);
                    inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
                    inner.executeWithoutResult(same -> {});
                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(fixture.engine.isLocked("order:1")).isFalse();
        assertNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"beforeCommit", "afterCommit", "afterCompletion"})
    void a_lock_inside_is_released_after_a_synchronization_that_throws(String callback) {
        DataSourceTransactionManager manager = manager(SYNCHRONIZATION_ALWAYS);
        listenTo(manager);

        try {
            new TransactionTemplate(manager).executeWithoutResult(transaction -> {
                TransactionSynchronizationManager.registerSynchronization(new First() {
                    @Override
                    public void beforeCommit(boolean readOnly) {
                        called("beforeCommit");
                    }

                    @Override
                    public void afterCommit() {
                        called("afterCommit");
                    }

                    @Override
                    public void afterCompletion(int status) {
                        called("afterCompletion");
                    }

                    private void called(String name) {
                        if (callback.equals(name)) {
                            throw new IllegalStateException("of the application");
                        }
                    }
                });
                locks.executeWithoutResult("order:1", lock -> {});
            });
        } catch (IllegalStateException ex) {
            // Spring logs that of afterCompletion.
        }

        assertThat(fixture.engine.isLocked("order:1")).isFalse();
        assertNothingLeft();
    }

    /** Comes before the guard. */
    private abstract static class First implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    private LockHandle failingTransaction(DataSourceTransactionManager manager, Throwing listener) {
        List<LockHandle> handles = new ArrayList<>();
        assertThatThrownBy(() -> new TransactionTemplate(manager).executeWithoutResult(transaction -> {
                    handles.add(locks.execute("order:1", lock -> lock));
                    if (listener.callback.endsWith("Rollback")) {
                        transaction.setRollbackOnly();
                    }
                }))
                .isNotNull();
        listener.on = false;
        return handles.get(0);
    }

    private static void assertNothingLeft() {
        assertThat(OpenTransactions.number()).isZero();
    }

    private static void addFirst(Throwing listener, DataSourceTransactionManager manager) {
        listenTo(manager);
        List<TransactionExecutionListener> all = new ArrayList<>(manager.getTransactionExecutionListeners());
        all.add(0, listener);
        manager.setTransactionExecutionListeners(all);
    }

    private static void listenTo(DataSourceTransactionManager manager) {
        new TransactionManagerPostProcessor().postProcessAfterInitialization(manager, "manager");
    }

    private static DataSourceTransactionManager manager(int synchronization) {
        DataSourceTransactionManager manager =
                new DataSourceTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID()));
        manager.setTransactionSynchronization(synchronization);
        return manager;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }
}
