package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.PostgresProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The server executed a request, and its answer was lost: every operation has the right result, nothing is done twice,
 * and nothing stays behind.
 */
class InDoubtTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private final TestDatabase database = TestDatabase.withSchema();
    private final LockAudit audit = new LockAudit(database);
    private final PostgresProxy proxy = new PostgresProxy(database.url());
    private Connection other;

    @BeforeEach
    void open() throws SQLException {
        other = database.jdbc().getDataSource().getConnection();
        other.setAutoCommit(false);
    }

    @AfterEach
    void close() throws SQLException {
        other.close();
        proxy.close();
    }

    @Test
    void a_grant_whose_connection_was_cut_before_the_answer_is_released_by_its_lock_id_and_not_repeated() {
        run(locks -> {
            proxy.loseAnswerTo("syncguard_locks_acquire");
            assertFails(() -> locks.acquire(ORDER), LockErrorCode.SERVICE_UNAVAILABLE);

            awaitOperations("INSERT", "DELETE");
            assertThat(fenceOfNextGrant(locks)).isEqualTo(2);
        });
    }

    @Test
    void a_grant_whose_answer_never_came_is_released_by_its_lock_id_and_not_repeated() {
        run(locks -> {
            proxy.swallowAnswerTo("syncguard_locks_acquire");
            assertFails(() -> locks.acquire(ORDER.ttl(Duration.ofSeconds(1))), LockErrorCode.NETWORK_TIMEOUT);

            // The row would stay even after the end of its ttl.
            awaitOperations("INSERT", "DELETE");
            assertThat(fenceOfNextGrant(locks)).isEqualTo(2);
        });
    }

    @Test
    void a_grant_that_the_server_makes_after_its_client_has_gone_is_released() {
        run(locks -> {
            locks.acquire(ORDER).release();
            execute("SELECT FROM syncguard_fence_counters FOR UPDATE");
            CompletableFuture<Throwable> failure =
                    CompletableFuture.supplyAsync(() -> catchThrowable(() -> locks.acquire(ORDER)));
            awaitSessionThatWaits();

            proxy.cut();
            assertThat(failure)
                    .succeedsWithin(Duration.ofSeconds(5))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
            execute("COMMIT");

            awaitOperations("INSERT", "DELETE", "INSERT", "DELETE");
            assertThat(fenceOfNextGrant(locks)).isEqualTo(3);
        });
    }

    @Test
    void a_release_whose_answer_was_lost_is_sent_again_and_leaves_the_next_grant_alone() {
        AtomicInteger sent = new AtomicInteger();
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER);
            proxy.watchParameters(parameters -> {
                if (parameters.contains(lock.lockId()) && sent.incrementAndGet() == 2) {
                    grantToSomebodyElse();
                }
            });
            proxy.loseAnswerTo("syncguard_locks_delete_lease");

            assertThat(lock.release()).isTrue();

            await().atMost(Duration.ofSeconds(10)).until(() -> sent.get() >= 2);
            assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        });
        await().atMost(Duration.ofSeconds(10)).until(() -> database.sessions() == 1);
        assertThat(operations()).isEqualTo("INSERT,DELETE,INSERT");
    }

    @Test
    void an_extension_whose_answer_was_lost_leaves_the_lock_held_until_the_earlier_deadline() {
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER.noHeartbeat());
            proxy.loseAnswerTo("syncguard_locks_extend");

            Throwable failure = catchThrowable(() -> lock.extend(Duration.ofSeconds(10)));

            assertThat(failure)
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE))
                    .hasMessageContaining("'order:1'");
            assertThat(operations()).as("operations at the server").isEqualTo("INSERT,UPDATE");
            assertThat(lock.remaining()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(10));
            assertThat(lock.release()).isTrue();
            awaitOperations("INSERT", "UPDATE", "DELETE");
        });
    }

    @Test
    void a_fence_whose_answer_was_lost_is_left_out() {
        run(locks -> {
            LockHandle lock = locks.acquire(ORDER.noHeartbeat());
            proxy.loseAnswerTo("syncguard_locks_rotate");

            assertFails(lock::rotateFence, LockErrorCode.SERVICE_UNAVAILABLE);

            assertThat(operations()).as("operations at the server").isEqualTo("INSERT,UPDATE");
            assertThat(lock.isHeld()).isTrue();
            assertThat(lock.fence().value()).isEqualTo(1);
            assertThat(lock.rotateFence().value()).isEqualTo(3);
            assertThat(locks.admin().lookup("order:1").orElseThrow().fence()).isEqualTo(lock.fence());
            assertThat(lock.release()).isTrue();
        });
    }

    private static void assertFails(Runnable operation, LockErrorCode code) {
        assertThat(catchThrowable(operation::run))
                .isInstanceOfSatisfying(
                        LockBackendException.class, ex -> assertThat(ex.code()).isEqualTo(code))
                .hasMessageContaining("'order:1'");
    }

    private void grantToSomebodyElse() {
        database.jdbc()
                .queryForMap("SELECT * FROM syncguard_locks_acquire("
                        + "'order:1', false, 1, 'somebody-else---------', 30000, 'somebody else', "
                        + "false, NULL, NULL, NULL, NULL, NULL)");
    }

    /**
     * The pool may still have a connection that was cut while it was idle. A statement on such a connection is not
     * sent.
     */
    private static long fenceOfNextGrant(LockManager locks) {
        await().atMost(Duration.ofSeconds(10))
                .ignoreExceptionsInstanceOf(LockBackendException.class)
                .until(() -> !locks.isLocked("order:1"));
        try (LockHandle lock = locks.acquire(ORDER)) {
            return lock.fence().value();
        }
    }

    private void awaitOperations(String... expected) {
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(operations()).isEqualTo(String.join(",", expected)));
    }

    /** The changes of the key's row so far. */
    private String operations() {
        return String.join(
                ",",
                audit.of("order:1").stream().map(LockAudit.Entry::operation).toList());
    }

    private void awaitSessionThatWaits() {
        await().atMost(Duration.ofSeconds(10)).until(() -> database.jdbc().queryForObject("""
                        SELECT EXISTS (
                            SELECT FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock')
                        """, Boolean.class));
    }

    private void execute(String sql) {
        try (Statement statement = other.createStatement()) {
            statement.execute(sql);
        } catch (SQLException ex) {
            throw new AssertionError(ex);
        }
    }

    private void run(Consumer<LockManager> test) {
        Applications.on(proxy.url())
                .withPropertyValues("syncguard.shutdown-timeout=0s")
                .run(application -> test.accept(application.getBean(LockManager.class)));
    }
}
