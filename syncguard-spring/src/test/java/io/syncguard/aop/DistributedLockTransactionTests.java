package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.testing.BugOf;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Annotated methods and transactions: a key is free only when what was written under it can be seen.
 */
@Timeout(60)
class DistributedLockTransactionTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner =
            application.with(Transactions.class, Database.class, Accounts.class, Bank.class);

    @BugOf("alturkovic: the method runs inside the transaction, and the next holder reads the state before its commit")
    @Test
    void the_lock_is_taken_before_the_transaction_of_the_method_begins_and_released_after_its_commit() {
        runner.run(context -> {
            context.getBean(Accounts.class).book("42");

            assertThat(log(context)).containsExactly("begin, taken", "body, taken", "commit, taken");
            assertThat(application.isTaken("account:42")).isFalse();
        });
    }

    @Test
    void the_lock_is_released_after_the_rollback_of_the_method() {
        runner.run(context -> {
            assertThatThrownBy(() -> context.getBean(Accounts.class).fail("42")).hasMessage("no money");

            assertThat(log(context)).containsExactly("begin, taken", "body, taken", "rollback, taken");
            assertThat(application.isTaken("account:42")).isFalse();
        });
    }

    @Test
    void no_transaction_begins_for_a_call_that_does_not_get_its_lock() {
        runner.run(context -> {
            application.takenBySomebodyElse("account:42");

            assertThatThrownBy(() -> context.getBean(Accounts.class).book("42")).hasMessageContaining("account:42");
            assertThat(log(context)).isEmpty();
        });
    }

    @Test
    void a_lock_that_was_taken_inside_a_transaction_is_released_after_it() {
        runner.run(context -> {
            context.getBean(Bank.class).bookInTransaction("42");

            assertThat(log(context))
                    .containsExactly("begin, free", "body, taken", "after the call, taken", "commit, taken");
            assertThat(application.isTaken("account:42")).isFalse();
        });
    }

    @Test
    void a_second_call_in_the_same_transaction_joins_the_first() {
        runner.run(context -> {
            context.getBean(Bank.class).bookTwice("42");

            assertThat(application.grants("account:42")).isEqualTo(1);
            assertThat(application.isTaken("account:42")).isFalse();
        });
    }

    private static List<String> log(ApplicationContext context) {
        return context.getBean(Database.class).log;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {}

    /** Commits nothing, and records when the commit was requested and whether the key was taken then. */
    static class Database extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient List<String> log = new CopyOnWriteArrayList<>();
        private final transient LockManager locks;

        Database(LockManager locks) {
            this.locks = locks;
        }

        void note(String event) {
            log.add(event + (locks.isLocked("account:42") ? ", taken" : ", free"));
        }

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            note("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            note("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            note("rollback");
        }
    }

    static class Accounts {

        private final Database database;

        Accounts(Database database) {
            this.database = database;
        }

        @Transactional
        @DistributedLock(name = "account", key = "#id")
        public void book(String id) {
            database.note("body");
        }

        @Transactional
        @DistributedLock(name = "account", key = "#id")
        public void fail(String id) {
            database.note("body");
            throw new IllegalStateException("no money");
        }

        @DistributedLock(name = "account", key = "#id")
        public void bookOnly(String id) {
            database.note("body");
        }
    }

    static class Bank {

        private final Accounts accounts;
        private final Database database;

        Bank(Accounts accounts, Database database) {
            this.accounts = accounts;
            this.database = database;
        }

        @Transactional
        public void bookInTransaction(String id) {
            accounts.bookOnly(id);
            database.note("after the call");
        }

        @Transactional
        public void bookTwice(String id) {
            accounts.bookOnly(id);
            accounts.bookOnly(id);
        }
    }
}
