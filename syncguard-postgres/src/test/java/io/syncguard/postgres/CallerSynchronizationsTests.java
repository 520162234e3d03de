package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.testing.PostgresServer;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A statement of ours keeps no connection for a transaction of the caller, whose resources and synchronizations stay
 * unchanged.
 */
class CallerSynchronizationsTests {

    private final HikariDataSource ours = pool();
    private final HikariDataSource theirs = pool();
    private final PostgresConnections connections = new PostgresConnections(
            ours,
            Duration.ofSeconds(5),
            new PostgresSearchPath(PostgresTables.DEFAULT),
            new RunningRequests(Time.SYSTEM));
    private final TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(theirs));
    private final List<String> events = new ArrayList<>();

    @BeforeEach
    void connect() {
        String url = PostgresServer.newDatabaseUrl();
        ours.setJdbcUrl(url);
        theirs.setJdbcUrl(url);
    }

    @AfterEach
    void close() {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.clear();
        }
        ours.close();
        theirs.close();
    }

    @Test
    void outside_of_a_transaction_there_is_none_afterwards() {
        ask();

        assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
        assertNothingKept();
    }

    @Test
    void a_transaction_finds_its_name_its_level_and_its_synchronizations_in_their_order() {
        transaction.setName("order");
        transaction.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        transaction.setReadOnly(true);
        transaction.executeWithoutResult(status -> {
            register("last", 3);
            register("first", 1);
            register("second", 2);
            List<TransactionSynchronization> before = TransactionSynchronizationManager.getSynchronizations();
            Map<Object, Object> resources = Map.copyOf(TransactionSynchronizationManager.getResourceMap());

            ask();

            assertThat(TransactionSynchronizationManager.getSynchronizations()).containsExactlyElementsOf(before);
            assertThat(TransactionSynchronizationManager.getResourceMap()).isEqualTo(resources);
            assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
                    .isEqualTo("order");
            assertThat(TransactionSynchronizationManager.getCurrentTransactionIsolationLevel())
                    .isEqualTo(TransactionDefinition.ISOLATION_REPEATABLE_READ);
            assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly())
                    .isTrue();
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            assertNothingKept();
        });
        assertThat(events).containsExactly("first", "second", "last");
        assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
    }

    @Test
    void a_suspended_transaction_and_the_one_inside_it_find_their_own() {
        TransactionTemplate inner = new TransactionTemplate(transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        transaction.executeWithoutResult(outer -> {
            register("outer", 1);
            inner.executeWithoutResult(status -> {
                register("inner", 1);
                ask();
                assertNothingKept();
            });
            assertThat(events).containsExactly("inner");
            ask();
            assertNothingKept();
        });
        assertThat(events).containsExactly("inner", "outer");
    }

    @Test
    void a_nested_transaction_goes_back_to_its_savepoint() {
        TransactionTemplate inner = new TransactionTemplate(transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        transaction.executeWithoutResult(outer -> {
            register("outer", 1);
            inner.executeWithoutResult(status -> {
                ask();
                status.setRollbackOnly();
            });
            assertThat(outer.isRollbackOnly()).isFalse();
            assertNothingKept();
        });
        assertThat(events).containsExactly("outer");
    }

    @Test
    void a_transaction_of_something_else_than_a_data_source_finds_its_own() {
        TransactionSynchronizationManager.initSynchronization();
        TransactionSynchronizationManager.setActualTransactionActive(true);
        register("jta", 1);

        ask();

        assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1);
        assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                .isTrue();
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        assertNothingKept();
    }

    @Test
    void a_synchronization_that_asks_and_registers_another_one_is_called_and_so_is_the_other() {
        transaction.executeWithoutResult(
                status -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void beforeCommit(boolean readOnly) {
                        ask();
                        register("registered while committing", 1);
                        ask();
                        assertNothingKept();
                    }

                    @Override
                    public void afterCompletion(int status) {
                        events.add("completed");
                        ask();
                    }
                }));
        assertThat(events).containsExactlyInAnyOrder("completed", "registered while committing");
        assertNothingKept();
    }

    @Test
    void a_transaction_that_somebody_has_inside_the_call_takes_nothing_from_the_callers() {
        transaction.executeWithoutResult(status -> {
            register("caller", 1);
            connections.query(
                    "asking",
                    "SELECT 1",
                    (connection, statement) -> {
                        assertThat(TransactionSynchronizationManager.isSynchronizationActive())
                                .isFalse();
                        TransactionSynchronizationManager.initSynchronization();
                        register("inside", 1);
                        TransactionSynchronizationManager.clear();
                    },
                    ResultSet::next);
            assertThat(TransactionSynchronizationManager.getSynchronizations())
                    .extracting(Object::toString)
                    .containsExactly("caller");
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
        });
    }

    @Test
    void a_call_that_fails_puts_everything_back() {
        transaction.executeWithoutResult(status -> {
            register("caller", 1);
            assertThatExceptionOfType(RuntimeException.class)
                    .isThrownBy(() -> connections.query(
                            "asking", "SELECT 1 / 0", (connection, statement) -> {}, ResultSet::next));
            assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1);
            assertNothingKept();
        });
        assertThat(events).containsExactly("caller");
    }

    private void ask() {
        assertThat(connections.<Boolean>query("asking", "SELECT 1", (connection, statement) -> {}, ResultSet::next))
                .isTrue();
    }

    private void assertNothingKept() {
        assertThat(ours.getHikariPoolMXBean().getActiveConnections()).isZero();
    }

    private void register(String name, int order) {
        TransactionSynchronizationManager.registerSynchronization(new Named(name, order));
    }

    private static HikariDataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setMaximumPoolSize(2);
        pool.setMinimumIdle(1);
        pool.setConnectionTimeout(2_000);
        return pool;
    }

    /** Records its own completion. */
    private final class Named implements TransactionSynchronization, Ordered {

        private final String name;
        private final int order;

        private Named(String name, int order) {
            this.name = name;
            this.order = order;
        }

        @Override
        public int getOrder() {
            return order;
        }

        @Override
        public void afterCompletion(int status) {
            events.add(name);
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
