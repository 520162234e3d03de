package io.syncguard.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.StaleFenceException;
import io.syncguard.testing.StatementCounter;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What a check promises, on every database. */
@Timeout(60)
@TestInstance(Lifecycle.PER_CLASS)
abstract class FenceGuardContract {

    private DataSource database;
    private FenceGuard fences;
    private JdbcTemplate jdbc;
    private TransactionTemplate transaction;

    /** Connections to a new, empty database, with a table of the fences. */
    abstract DataSource newDatabase();

    @BeforeAll
    void createTables() {
        database = newDatabase();
        fences = new FenceGuard(database);
        jdbc = new JdbcTemplate(database);
        jdbc.execute("CREATE TABLE work (fence BIGINT)");
        transaction = in(new JdbcTransactionManager(database), TransactionDefinition.PROPAGATION_REQUIRED);
    }

    @BeforeEach
    void forget() {
        new FenceSchema(database, FenceGuard.DEFAULT_TABLE).initialize();
        jdbc.execute("DELETE FROM " + FenceGuard.DEFAULT_TABLE);
        jdbc.execute("DELETE FROM work");
    }

    @Test
    void growing_fences_pass_and_so_does_the_same_again() {
        work("order:42", 1);
        work("order:42", 5);
        work("order:42", 5);
        work("order:42", Fence.MAX_VALUE);
        work("order:42", Fence.MAX_VALUE);

        assertThat(done()).containsExactly(1L, 5L, 5L, Fence.MAX_VALUE, Fence.MAX_VALUE);
    }

    @Test
    void a_smaller_fence_is_refused_and_its_work_rolled_back() {
        work("order:42", 5);

        assertThatExceptionOfType(StaleFenceException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    insert(4);
                    fences.check("order:42", new Fence(4));
                }))
                .satisfies(refusal -> {
                    assertThat(refusal.resource()).isEqualTo("order:42");
                    assertThat(refusal.fence()).isEqualTo(new Fence(4));
                    assertThat(refusal.largest()).isEqualTo(new Fence(5));
                    assertThat(refusal.code()).isEqualTo(LockErrorCode.LOST);
                })
                .withMessageContaining("000000000000004")
                .withMessageContaining("000000000000005")
                .withMessageContaining("'order:42'")
                .withMessageContaining("Acquire the lock again");

        assertThat(done()).containsExactly(5L);
    }

    @Test
    void a_refused_transaction_cannot_commit_though_the_refusal_is_caught() {
        work("order:42", 5);

        assertThatExceptionOfType(StaleFenceException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    assertThatThrownBy(() -> fences.check("order:42", new Fence(4)))
                            .isInstanceOf(StaleFenceException.class);
                    insert(4);
                }));

        assertThat(done()).containsExactly(5L);
    }

    @Test
    void a_refusal_that_was_rolled_back_to_a_savepoint_leaves_the_outer_transaction_alone() {
        work("order:42", 5);

        transaction.executeWithoutResult(outer -> {
            assertThatThrownBy(() -> nested(() -> {
                        insert(4);
                        fences.check("order:42", new Fence(4));
                    }))
                    .isInstanceOf(StaleFenceException.class);
            fences.check("order:42", new Fence(6));
            insert(6);
        });

        assertThat(done()).containsExactly(5L, 6L);
    }

    @Test
    void a_savepoint_after_the_refusal_does_not_undo_it() {
        work("order:42", 5);

        assertThatExceptionOfType(StaleFenceException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(outer -> {
                    insert(4);
                    assertThatThrownBy(() -> fences.check("order:42", new Fence(4)))
                            .isInstanceOf(StaleFenceException.class);
                    assertThatThrownBy(() -> nested(() -> {
                                throw new IllegalStateException("something else");
                            }))
                            .hasMessage("something else");
                }));

        assertThat(done()).containsExactly(5L);
    }

    @Test
    void a_check_that_was_rolled_back_has_recorded_nothing() {
        work("order:42", 1);
        transaction.executeWithoutResult(status -> {
            fences.check("order:42", new Fence(7));
            fences.check("order:43", new Fence(7));
            status.setRollbackOnly();
        });

        work("order:42", 2);
        work("order:43", 2);

        assertThat(done()).containsExactly(1L, 2L, 2L);
    }

    @Test
    void a_transaction_may_check_several_resources_and_one_of_them_several_times() {
        transaction.executeWithoutResult(status -> {
            fences.check("order:1", new Fence(3));
            fences.check("order:2", new Fence(1));
            fences.check("order:1", new Fence(3));
            fences.check("order:1", new Fence(4));
            insert(4);
        });

        assertThat(done()).containsExactly(4L);
    }

    @Test
    void resources_differ_by_each_character_and_not_by_their_normal_form() {
        List<String> resources = resourcesThatDiffer();
        long fence = 100;
        for (String resource : resources) {
            work(resource, fence--);
        }

        assertThat(done()).hasSize(resources.size());
        assertThatThrownBy(() -> work("a\u0308", 90)).isInstanceOf(StaleFenceException.class);
        assertThatThrownBy(() -> work("\ud83d\udd12", 1)).isInstanceOf(StaleFenceException.class);
    }

    @Test
    void the_longest_resource_is_told_from_another_that_differs_at_its_end() {
        String resource = "\u00e4".repeat(255);
        work(resource + "ab", 7);

        work(resource + "ac", 1);

        assertThatThrownBy(() -> work(resource + "ab", 1)).isInstanceOf(StaleFenceException.class);
    }

    @Test
    void a_resource_outside_its_limits_is_refused_before_anything_is_sent() {
        FenceGuard withoutServer = new FenceGuard(new StatementCounter(database, statement -> {
            throw new AssertionError("sent: " + statement);
        }));

        for (String resource : List.of("", "x".repeat(513), "a\u0000b", "a\ud83d")) {
            transaction.executeWithoutResult(
                    status -> assertInvalid(() -> withoutServer.check(resource, new Fence(1)), "A resource "));
        }
    }

    @Test
    void without_a_transaction_a_check_is_refused() {
        assertInvalid(() -> fences.check("order:42", new Fence(1)), "no transaction is running");
    }

    @Test
    void a_scope_that_only_shares_a_connection_is_no_transaction() {
        TransactionTemplate scope =
                in(new JdbcTransactionManager(database), TransactionDefinition.PROPAGATION_SUPPORTS);

        scope.executeWithoutResult(status -> {
            insert(1);
            assertInvalid(() -> fences.check("order:42", new Fence(1)), "no transaction is running");
        });
    }

    @Test
    void a_transaction_of_another_data_source_is_refused_and_cannot_commit() {
        TransactionTemplate another =
                in(new JdbcTransactionManager(newDatabase()), TransactionDefinition.PROPAGATION_REQUIRED);

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> another.executeWithoutResult(status -> {
                    insert(1);
                    assertInvalid(
                            () -> fences.check("order:42", new Fence(1)),
                            "the running transaction is not one of the FenceGuard's DataSource");
                }))
                .isNotInstanceOf(TransactionException.class);
    }

    @Test
    void a_read_only_transaction_is_refused() {
        TransactionTemplate reading = new TransactionTemplate(transaction.getTransactionManager());
        reading.setReadOnly(true);

        reading.executeWithoutResult(
                status -> assertInvalid(() -> fences.check("order:42", new Fence(1)), "the transaction is read-only"));
    }

    @Test
    void after_its_completion_a_transaction_checks_no_more() {
        AtomicReference<Throwable> refusal = new AtomicReference<>();

        transaction.executeWithoutResult(status ->
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCompletion(int outcome) {
                        refusal.set(catchThrowable(() -> fences.check("order:42", new Fence(1))));
                    }
                }));

        assertThat(refusal.get()).isInstanceOf(LockException.class).hasMessageContaining("no transaction is running");
        assertThat(jdbc.queryForList("SELECT fence FROM " + FenceGuard.DEFAULT_TABLE))
                .isEmpty();
    }

    @Test
    void a_missing_table_is_reported_with_the_way_to_create_it_and_the_transaction_cannot_commit() {
        jdbc.execute("DROP TABLE " + FenceGuard.DEFAULT_TABLE);

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    assertThatThrownBy(() -> fences.check("order:42", new Fence(1)))
                            .isInstanceOf(LockException.class);
                }))
                .satisfies(this::assertReportsMissingTable);
    }

    @Test
    void the_table_may_have_another_name() {
        new FenceSchema(database, "Other_Fences").initialize();
        FenceGuard other = new FenceGuard(database, "Other_Fences");
        work("order:42", 5);

        transaction.executeWithoutResult(status -> other.check("order:42", new Fence(3)));

        assertThat(jdbc.queryForObject("SELECT fence FROM Other_Fences", Long.class))
                .isEqualTo(3);
    }

    @Test
    void one_statement_is_sent_for_each_check_that_passes() {
        work("order:42", 1);
        StatementCounter counted = new StatementCounter(database, statement -> {});
        FenceGuard guard = new FenceGuard(counted);
        TransactionTemplate countedTransaction =
                in(new JdbcTransactionManager(counted), TransactionDefinition.PROPAGATION_REQUIRED);

        countedTransaction.executeWithoutResult(status -> {
            guard.check("order:42", new Fence(1));
            guard.check("order:42", new Fence(2));
        });

        assertThat(counted.statements()).hasSize(2);
    }

    List<String> resourcesThatDiffer() {
        return List.of("a", "A", "a ", " a", "\u00e4", "a\u0308b", "ss", "\u00df", "%", "\\", "'", "\ud83d\udd12", " ");
    }

    void assertReportsMissingTable(LockException error) {
        assertThat(error.code()).isEqualTo(LockErrorCode.SCHEMA_MISSING);
        assertThat(error)
                .hasMessageContaining("syncguard/fences")
                .hasMessageContaining("syncguard.fencing.schema-management");
    }

    private void work(String resource, long fence) {
        transaction.executeWithoutResult(status -> {
            fences.check(resource, new Fence(fence));
            insert(fence);
        });
    }

    private void nested(Runnable work) {
        in(transaction.getTransactionManager(), TransactionDefinition.PROPAGATION_NESTED)
                .executeWithoutResult(status -> work.run());
    }

    private void insert(long fence) {
        jdbc.update("INSERT INTO work (fence) VALUES (?)", fence);
    }

    private List<Long> done() {
        return jdbc.queryForList("SELECT fence FROM work ORDER BY fence", Long.class);
    }

    private static void assertInvalid(Runnable check, String reason) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(check::run)
                .isNotInstanceOf(TransactionException.class)
                .withMessageContaining(reason)
                .satisfies(error -> assertThat(error.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    private static TransactionTemplate in(PlatformTransactionManager manager, int propagation) {
        return new TransactionTemplate(manager, new DefaultTransactionDefinition(propagation));
    }
}
