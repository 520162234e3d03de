package io.syncguard.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockLostException;
import io.syncguard.OnLost;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Transactions and fences, on a database that has no locks. */
class TransactionTests {

    @Nested
    @SpringBootTest(properties = {"syncguard.fencing.enabled=true", "syncguard.commit-guard=required"})
    @AutoConfigureTestLocks
    @Import(Accounts.class)
    class Application {

        @Autowired
        private Accounts accounts;

        @Test
        void a_lock_is_outside_of_the_transaction_and_its_fence_is_checked_inside() {
            accounts.withdraw("a");
        }

        @Test
        void a_transaction_is_rolled_back_if_its_lock_is_lost(@Autowired LockTestControl control) {
            long before = accounts.withdrawals();
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> accounts.withdraw("a", () -> control.endLease("account:a")));

            assertThat(accounts.withdrawals()).isEqualTo(before);
        }
    }

    @Nested
    @JdbcTest(properties = "syncguard.fencing.enabled=true")
    @AutoConfigureTestLocks
    @Import(Accounts.class)
    class Slice {

        @Test
        void a_slice_has_the_same_order(@Autowired Accounts accounts) {
            accounts.withdraw("a");
        }
    }

    static class Accounts {

        private final JdbcTemplate jdbc;

        Accounts(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("CREATE TABLE IF NOT EXISTS withdrawal (account TEXT)");
        }

        @DistributedLock(name = "account", key = "#account", fencedResource = "#account")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void withdraw(String account) {
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            jdbc.update("INSERT INTO withdrawal VALUES (?)", account);
        }

        @DistributedLock(name = "account", key = "#account", commitGuard = CommitGuard.REQUIRED, onLost = OnLost.NOTIFY)
        @Transactional
        public void withdraw(String account, Runnable meanwhile) {
            jdbc.update("INSERT INTO withdrawal VALUES (?)", account);
            meanwhile.run();
        }

        long withdrawals() {
            return jdbc.queryForObject("SELECT count(*) FROM withdrawal", Long.class);
        }
    }
}
