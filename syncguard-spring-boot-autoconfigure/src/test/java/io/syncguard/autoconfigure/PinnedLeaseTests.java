package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.GuardedCommits.afterThePin;
import static io.syncguard.autoconfigure.StockDatabase.inTransaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** What happens to a lease between its pin and the commit. */
class PinnedLeaseTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    @RegisterExtension
    private static final GuardedCommits commits = new GuardedCommits();

    private final StockDatabase database = commits.database;

    @Test
    void nobody_is_granted_the_key_until_the_commit_has_ended_although_the_lease_has_lapsed() {
        LockHandle[] next = new LockHandle[2];
        assertThatThrownBy(() -> committing(
                        ORDER,
                        lock -> {
                            isRefusedWithout("lapsed", Duration.ZERO);
                            isRefusedWithout("lapsed", Duration.ofMillis(100));
                            commits.endLease("order:1");
                            next[0] = commits.others().tryAcquire(ORDER);
                            isRefusedBecauseOfTheCommit(Duration.ZERO);
                            isRefusedBecauseOfTheCommit(Duration.ofMillis(300));
                            lock.extend(Duration.ofSeconds(30));
                            commits.endLease("order:1");
                        },
                        lock -> {
                            next[1] = commits.takeOver(ORDER);
                            assertThat(next[1].fence()).isGreaterThan(lock.fence());
                            assertThat(database.amount()).isEqualTo(1);
                        }))
                .as("lost after the commit")
                .isInstanceOf(LockLostException.class);
        assertThat(next[0]).isNull();
    }

    @Test
    void so_it_is_with_a_shared_lease() {
        committing(ORDER.shared().noHeartbeat(), lock -> {
            commits.endLease("order:1");
            assertThat(commits.others().tryAcquire(ORDER)).isNull();
            // Its holder has not seen that.
            database.jdbc().update("UPDATE syncguard_locks_shared SET expires_at_ms = syncguard_locks_now() + 10000");
        });
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void heartbeats_extend_it() {
        committing(ORDER, lock -> {
            database.jdbc().update("UPDATE syncguard_locks SET expires_at_ms = expires_at_ms - 10000");
            assertThat(lock.extend(Duration.ofSeconds(60))).isTrue();
        });
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void its_fence_can_be_rotated() {
        Fence[] fences = new Fence[2];
        committing(ORDER, lock -> {
            fences[0] = lock.fence();
            fences[1] = lock.rotateFence();
        });
        assertThat(fences[1]).isGreaterThan(fences[0]);
    }

    @Test
    void its_own_thread_does_not_wait_for_itself_when_it_releases_or_acquires_it() {
        List<Object> results = new ArrayList<>();
        committing(ORDER, lock -> {
            results.add(lock.release());
            try (LockHandle again = lockedBy(lock)) {
                results.add(again.fence().equals(lock.fence()));
            }
        });
        assertThat(results).containsExactly(true, true);
        assertThat(database.amount()).isEqualTo(1);
        assertThat(database.lockedKeys()).isEmpty();
    }

    @Test
    void a_release_by_another_process_takes_effect_after_the_commit() {
        assertThatThrownBy(() -> committing(
                        ORDER,
                        lock -> {
                            assertThat(commits.others().release(lock.lockId())).isTrue();
                            assertThat(database.lockedKeys()).containsExactly("order:1");
                        },
                        lock -> Awaitility.await()
                                .atMost(Duration.ofSeconds(10))
                                .until(() -> database.lockedKeys().isEmpty())))
                .isInstanceOf(LockLostException.class);
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void a_loss_after_the_pin_does_not_contradict_what_is_committed() {
        List<String> seen = new ArrayList<>();
        committing(
                ORDER.noHeartbeat(),
                lock -> {
                    commits.lose(lock);
                    seen.add("lost before the commit: " + lock.state());
                },
                lock -> seen.add("after it: " + lock.state()));
        assertThat(seen).containsExactly("lost before the commit: LOST", "after it: LOST");
        assertThat(database.amount())
                .as("committed, and no exception was thrown")
                .isEqualTo(1);
    }

    @Test
    void a_body_that_goes_on_after_such_a_loss_is_told_if_another_holder_worked_beside_it() {
        assertThatThrownBy(() -> committing(
                        ORDER.noHeartbeat().onLost(OnLost.NOTIFY), commits::lose, lock -> commits.takeOver(ORDER)))
                .isInstanceOf(LockLostException.class);
        assertThat(database.amount()).as("committed while the lock was held").isEqualTo(1);
    }

    @Test
    void a_body_that_goes_on_around_a_joined_one_is_told_as_well() {
        commits.run(application -> {
            LockTemplate locks = new LockTemplate(application.getBean(LockManager.class));
            LockRequest order = ORDER.noHeartbeat().onLost(OnLost.NOTIFY);
            afterThePin(application, () -> commits.lose(LockHandle.current().orElseThrow()));
            assertThatThrownBy(() -> locks.execute(order, outer -> {
                        locks.execute(order, inner -> {
                            inTransaction(application, PinnedLeaseTests::add);
                            return inner;
                        });
                        return commits.takeOver(ORDER);
                    }))
                    .isInstanceOf(LockLostException.class);
        });
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void a_body_that_goes_on_after_such_a_loss_is_told_if_the_server_cannot_say_who_worked_beside_it() {
        assertThatThrownBy(() -> committing(
                        ORDER.noHeartbeat().onLost(OnLost.NOTIFY),
                        commits::lose,
                        lock -> database.jdbc().execute("ALTER TABLE syncguard_locks RENAME TO gone")))
                .isInstanceOf(LockLostException.class);
        database.jdbc().execute("ALTER TABLE gone RENAME TO syncguard_locks");
    }

    @Test
    void nor_does_it_for_a_body_that_has_joined_the_lock() {
        commits.run(application -> {
            LockTemplate locks = new LockTemplate(application.getBean(LockManager.class));
            afterThePin(application, () -> commits.lose(LockHandle.current().orElseThrow()));
            locks.execute(
                    ORDER.noHeartbeat(),
                    outer -> locks.execute(ORDER.noHeartbeat(), inner -> {
                        inTransaction(application, PinnedLeaseTests::add);
                        return inner;
                    }));
        });
        assertThat(database.amount()).isEqualTo(1);
    }

    @Tag("verification")
    @Test
    void such_a_loss_does_not_contradict_it_even_while_its_report_is_under_way() throws Exception {
        Semaphore committed = new Semaphore(0);
        List<Thread> others = new ArrayList<>();
        committing(
                ORDER.noHeartbeat(),
                lock -> {
                    others.add(bodyThatIsInterruptedAfter(committed, lock));
                    others.add(new Thread(() -> commits.lose(lock)));
                    others.get(1).start();
                    while (lock.isHeld()) {
                        // No wait that ends by an interrupt: the loss interrupts this body, too.
                        Thread.onSpinWait();
                    }
                },
                lock -> {});
        committed.release(2);
        for (Thread other : others) {
            other.join();
        }
        assertThat(database.amount())
                .as("committed, and no exception was thrown")
                .isEqualTo(1);
    }

    @Test
    void a_commit_that_fails_after_such_a_loss_reports_both() {
        assertThatThrownBy(() -> committing(ORDER.noHeartbeat(), lock -> {
                    commits.lose(lock);
                    throw new IllegalStateException("no commit");
                }))
                .hasMessage("no commit")
                .satisfies(failure ->
                        assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(LockLostException.class));
        assertThat(database.amount()).isZero();
    }

    @Test
    void a_loss_after_the_commit_is_reported_at_the_end_of_the_body() {
        assertThatThrownBy(() -> committing(ORDER.noHeartbeat(), lock -> {}, commits::lose))
                .isInstanceOf(LockLostException.class);
        assertThat(database.amount()).isEqualTo(1);
    }

    @Test
    void a_pin_that_waited_beyond_the_deadline_does_not_commit() throws Exception {
        try (var session = database.dataSource().getConnection()) {
            session.setAutoCommit(false);
            commits.run(application -> assertThatThrownBy(() -> new LockTemplate(application.getBean(LockManager.class))
                            .execute(ORDER.noHeartbeat().ttl(Duration.ofSeconds(1)), lock -> {
                                inTransaction(application, jdbc -> {
                                    jdbc.update("UPDATE stock SET amount = 1 WHERE item = 'apple'");
                                    lockRow(session);
                                    unlockAfter(lock, session);
                                });
                                return lock;
                            }))
                    .isInstanceOf(LockLostException.class));
        }
        assertThat(database.amount()).isZero();
    }

    private static void isRefusedWithout(String text, Duration waitTime) {
        assertThatThrownBy(() -> commits.others().acquire(ORDER.waitTime(waitTime)))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("Lock 'order:1' is held by ")
                .hasMessageNotContaining(text);
    }

    private static void isRefusedBecauseOfTheCommit(Duration waitTime) {
        assertThatThrownBy(() -> commits.others().acquire(ORDER.waitTime(waitTime)))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("Lock 'order:1' is held by ")
                .hasMessageContaining(
                        ". The lease has lapsed, but a transaction that commits under it has not ended; gave up after");
    }

    private void committing(LockRequest request, Consumer<LockHandle> betweenPinAndCommit) {
        committing(request, betweenPinAndCommit, lock -> {});
    }

    private void committing(
            LockRequest request, Consumer<LockHandle> betweenPinAndCommit, Consumer<LockHandle> afterTheCommit) {
        commits.run(application -> {
            this.application = application;
            LockHandle[] held = new LockHandle[1];
            afterThePin(application, () -> {
                assertThat(commits.isPinned("order:1")).isTrue();
                betweenPinAndCommit.accept(held[0]);
            });
            new LockTemplate(application.getBean(LockManager.class)).execute(request, lock -> {
                held[0] = lock;
                inTransaction(application, PinnedLeaseTests::add);
                afterTheCommit.accept(lock);
                return lock;
            });
        });
    }

    private ApplicationContext application;

    private LockHandle lockedBy(LockHandle lock) {
        return application
                .getBean(LockManager.class)
                .acquire(LockRequest.of(lock.key()).waitTime(Duration.ZERO));
    }

    /** A body under the lock in another thread, which holds up the report of the loss until the commit. */
    private static Thread bodyThatIsInterruptedAfter(Semaphore committed, LockHandle lock) {
        Semaphore begun = new Semaphore(0);
        Thread body =
                new Thread(() -> {
                    try {
                        lock.bind(() -> {
                                    begun.release();
                                    committed.acquireUninterruptibly();
                                    return lock;
                                })
                                .call();
                    } catch (Exception ex) {
                        throw new AssertionError(ex);
                    }
                }) {
                    @Override
                    public void interrupt() {
                        committed.acquireUninterruptibly();
                    }
                };
        body.start();
        begun.acquireUninterruptibly();
        return body;
    }

    private static void lockRow(java.sql.Connection session) {
        try (var statement = session.createStatement()) {
            statement.execute("SELECT FROM syncguard_locks FOR UPDATE");
        } catch (java.sql.SQLException ex) {
            throw new AssertionError(ex);
        }
    }

    /** In the background, because the commit waits for it. */
    private static void unlockAfter(LockHandle lock, java.sql.Connection session) {
        new Thread(() -> {
                    Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !lock.isHeld());
                    try {
                        session.rollback();
                    } catch (java.sql.SQLException ex) {
                        throw new AssertionError(ex);
                    }
                })
                .start();
    }

    private static void add(JdbcTemplate jdbc) {
        jdbc.update("UPDATE stock SET amount = amount + 1 WHERE item = 'apple'");
    }
}
