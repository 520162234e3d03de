package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static io.syncguard.autoconfigure.StockDatabase.lapse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.transaction.TransactionManagerPostProcessor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A lock that is taken inside a transaction of the caller is released when that has ended, whatever its outcome. */
class TransactionEndTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final StockDatabase database = new StockDatabase();

    @Test
    void a_lock_that_ends_inside_a_transaction_is_released_after_it() {
        database.run(application -> {
            inTransaction(application, jdbc -> {
                application
                        .getBean(LockTemplate.class)
                        .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 1"));
                assertThat(database.lockedKeys())
                        .as("the body has ended, the transaction has not")
                        .containsExactly("order:1");
                assertThat(database.amount()).isZero();
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void it_is_released_after_a_rollback_as_well() {
        database.run(application -> {
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        application
                                .getBean(LockTemplate.class)
                                .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 1"));
                        throw new IllegalStateException("rolled back");
                    }))
                    .hasMessage("rolled back");
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(database.amount()).isZero();
        });
    }

    @Test
    void it_is_released_after_a_commit_that_failed() {
        database.run(application -> {
            database.jdbc()
                    .execute("DROP TABLE IF EXISTS strict; CREATE TABLE strict (id INTEGER UNIQUE DEFERRABLE"
                            + " INITIALLY DEFERRED)");
            assertThatThrownBy(() -> inTransaction(
                            application,
                            jdbc -> application
                                    .getBean(LockTemplate.class)
                                    .execute(ORDER, lock -> jdbc.update("INSERT INTO strict VALUES (1), (1)"))))
                    .hasMessageContaining("duplicate key");
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void the_next_holder_is_refused_until_then_and_sees_what_was_committed() {
        database.run(application -> database.run(other -> {
            LockTemplate others = other.getBean(LockTemplate.class);
            inTransaction(application, jdbc -> {
                application
                        .getBean(LockTemplate.class)
                        .execute(ORDER, lock -> jdbc.update("UPDATE stock SET amount = 1"));
                assertThat(others.tryExecuteWithoutResult(ORDER, lock -> {})).isFalse();
            });
            int seen = others.execute(ORDER, lock -> database.amount());
            assertThat(seen).isEqualTo(1);
        }));
    }

    @Test
    void a_second_call_for_the_same_key_in_the_transaction_joins_the_first() {
        database.run(application -> inTransaction(application, jdbc -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            long first = locks.execute(ORDER, lock -> lock.fence().value());
            long second = locks.execute(
                    ORDER.waitTime(Duration.ZERO), lock -> lock.fence().value());
            assertThat(second).isEqualTo(first);
            assertThat(locks.tryExecute(ORDER, lock -> lock.isHeld()).value()).isTrue();
        }));
        assertThat(database.lockedKeys()).isEmpty();
    }

    @Test
    void a_second_transaction_inside_the_first_joins_as_well() {
        database.run(application -> {
            TransactionTemplate inner = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            inTransaction(application, jdbc -> {
                LockTemplate locks = application.getBean(LockTemplate.class);
                locks.execute(ORDER, lock -> lock);
                inner.executeWithoutResult(transaction -> locks.execute(ORDER.waitTime(Duration.ZERO), lock -> lock));
                assertThat(database.lockedKeys())
                        .as("the outer transaction is still open")
                        .containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_of_an_inner_transaction_is_released_with_that_one() {
        database.run(application -> {
            TransactionTemplate inner = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            inTransaction(application, jdbc -> {
                inner.executeWithoutResult(
                        transaction -> application.getBean(LockTemplate.class).execute(ORDER, lock -> lock));
                assertThat(database.lockedKeys()).isEmpty();
            });
        });
    }

    @Test
    void a_transaction_inside_the_body_ends_before_the_lock() {
        database.run(application -> {
            application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                inTransaction(application, jdbc -> jdbc.update("UPDATE stock SET amount = 1"));
                assertThat(database.lockedKeys()).containsExactly("order:1");
                return lock;
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_that_is_taken_after_the_commit_is_released_at_once() {
        database.run(application -> {
            List<String> afterCommit = new ArrayList<>(List.of("not run"));
            List<String> afterCompletion = new ArrayList<>(List.of("not run"));
            LockTemplate locks = application.getBean(LockTemplate.class);
            inTransaction(
                    application,
                    jdbc -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            locks.execute(ORDER, lock -> lock);
                            afterCommit.clear();
                        }

                        @Override
                        public void afterCompletion(int status) {
                            locks.execute(LockRequest.of("order:2"), lock -> lock);
                            afterCompletion.clear();
                            afterCompletion.addAll(database.lockedKeys());
                        }
                    }));
            assertThat(afterCommit).isEmpty();
            assertThat(afterCompletion).doesNotContain("order:2");
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void without_a_transaction_a_lock_is_released_when_its_body_ends() {
        database.run(application -> {
            TransactionTemplate none = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
            none.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
            none.executeWithoutResult(transaction -> {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> lock);
                assertThat(database.lockedKeys()).isEmpty();
            });
        });
    }

    @Test
    void heartbeats_go_on_until_the_transaction_has_ended() {
        database.runner().run(application -> {
            inTransaction(application, jdbc -> {
                application.getBean(LockTemplate.class).execute(ORDER.heartbeat(Duration.ofMillis(50)), lock -> lock);
                await().untilAsserted(() -> assertThat(database.audit.of("order:1"))
                        .filteredOn(entry -> entry.operation().equals("UPDATE"))
                        .hasSizeGreaterThan(3));
                assertThat(database.lockedKeys()).containsExactly("order:1");
            });
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @Test
    void a_lock_that_is_lost_before_the_transaction_ends_is_not_joined_and_nothing_is_committed() {
        database.run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        LockHandle ended = locks.execute(ORDER.noHeartbeat(), lock -> {
                            jdbc.update("UPDATE stock SET amount = 1");
                            return lock;
                        });
                        lapse(ended);
                        assertThatThrownBy(() -> locks.execute(ORDER, lock -> lock))
                                .isInstanceOf(LockLostException.class);
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isZero();
        });
    }

    /** The transaction manager of Boot, and one of the application that Boot leaves as it is. */
    @ParameterizedTest
    @ValueSource(classes = {Object.class, OwnTransactionManager.class})
    void a_lock_that_is_given_back_while_the_commit_begins_is_looked_at_as_well(Class<?> configuration) {
        database.runner().withUserConfiguration(configuration).run(application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            List<LockHandle> ended = new ArrayList<>();
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        beforeCommit(() -> ended.add(locks.execute(ORDER.noHeartbeat(), lock -> {
                            jdbc.update("UPDATE stock SET amount = 1");
                            return lock;
                        })));
                        beforeCommit(() -> lapse(ended.get(0)));
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isZero();
        });
    }

    @Test
    void a_lock_that_was_taken_before_and_is_given_back_right_before_the_commit_is_looked_at_as_well() {
        database.run(application -> {
            LockHandle lock = application.getBean(LockManager.class).acquire(ORDER.noHeartbeat());
            assertThatThrownBy(() -> inTransaction(application, jdbc -> {
                        jdbc.update("UPDATE stock SET amount = 1");
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void beforeCompletion() {
                                lock.release();
                                lapse(lock);
                            }
                        });
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(database.amount()).isZero();
        });
    }

    @Test
    void a_transaction_manager_with_two_names_looks_once() {
        ConfigurableTransactionManager manager = new DataSourceTransactionManager();
        TransactionManagerPostProcessor processor = new TransactionManagerPostProcessor();

        assertThat(processor.postProcessAfterInitialization(manager, "first")).isSameAs(manager);
        assertThat(processor.postProcessAfterInitialization(manager, "second")).isSameAs(manager);

        assertThat(manager.getTransactionExecutionListeners())
                .as("the first of all and the last of all")
                .hasSize(2);
    }

    private static void beforeCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                action.run();
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnTransactionManager {

        @Bean
        PlatformTransactionManager ownTransactionManager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }
    }
}
