package io.syncguard.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.StaleFenceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.support.TransactionTemplate;

/** Two and more transactions that check the same resource at the same time, in each isolation level. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
abstract class FenceGuardRaceContract {

    private static final String RESOURCE = "order:42";

    private static final Fence SMALLER = new Fence(6);

    private static final Fence LARGER = new Fence(7);

    /** Long enough for a statement to reach a row lock. A slower statement makes a race weaker, but fails no test. */
    private static final long A_WHILE_MILLIS = 100;

    private static final int THREADS = 4;

    private static final int ROUNDS = 30;

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final AtomicLong order = new AtomicLong();

    private HikariDataSource database;
    private FenceGuard fences;
    private JdbcTemplate jdbc;
    private TransactionTemplate transaction;

    abstract DataSource newDatabase();

    @BeforeAll
    void createTables() {
        HikariConfig pool = new HikariConfig();
        pool.setDataSource(newDatabase());
        pool.setMaximumPoolSize(THREADS + 1);
        database = new HikariDataSource(pool);
        new FenceSchema(database, FenceGuard.DEFAULT_TABLE).initialize();
        fences = new FenceGuard(database);
        jdbc = new JdbcTemplate(database);
        jdbc.execute("CREATE TABLE work (commit_order BIGINT, fence BIGINT)");
        jdbc.execute("CREATE TABLE state (value_of INT)");
        transaction = new TransactionTemplate(new JdbcTransactionManager(database));
    }

    @BeforeEach
    void forget() {
        jdbc.execute("DELETE FROM work");
        jdbc.execute("DELETE FROM " + FenceGuard.DEFAULT_TABLE);
    }

    @AfterAll
    void close() {
        threads.shutdownNow();
        database.close();
    }

    /** Whether the second of two transactions that check a resource for the first time may fail in any isolation. */
    boolean firstChecksMayConflict() {
        return false;
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "DEFAULT")
    void a_smaller_fence_does_not_pass_behind_the_first_check_of_the_resource(Isolation isolation) throws Exception {
        Throwable outcome = outcomeOfSecond(isolation, LARGER, SMALLER, true);

        if (firstChecksMayConflict() && !(outcome instanceof StaleFenceException)) {
            assertIsConflict(outcome);
        } else {
            assertRefused(outcome, isolation);
        }
        assertThat(inOrderOfCommits()).containsExactly(LARGER.value());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "DEFAULT")
    void a_smaller_fence_does_not_pass_behind_a_larger_one(Isolation isolation) throws Exception {
        transaction.executeWithoutResult(status -> fences.check(RESOURCE, new Fence(1)));

        assertRefusedBehindTheLarger(isolation);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "DEFAULT")
    void a_smaller_fence_does_not_pass_behind_a_larger_one_that_has_checked_before(Isolation isolation)
            throws Exception {
        transaction.executeWithoutResult(status -> fences.check(RESOURCE, LARGER));

        assertRefusedBehindTheLarger(isolation);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "DEFAULT")
    void a_larger_fence_commits_after_the_smaller_one_that_it_met(Isolation isolation) throws Exception {
        transaction.executeWithoutResult(status -> fences.check(RESOURCE, SMALLER));

        Throwable outcome = outcomeOfSecond(isolation, SMALLER, LARGER, true);

        if (outcome == null) {
            assertThat(inOrderOfCommits()).containsExactly(SMALLER.value(), LARGER.value());
        } else {
            assertIsConflict(outcome, isolation);
            assertThat(inOrderOfCommits()).containsExactly(SMALLER.value());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "DEFAULT")
    void a_smaller_fence_passes_behind_a_larger_one_that_was_rolled_back(Isolation isolation) throws Exception {
        transaction.executeWithoutResult(status -> fences.check(RESOURCE, new Fence(1)));

        Throwable outcome = outcomeOfSecond(isolation, LARGER, SMALLER, false);

        if (outcome == null) {
            assertThat(inOrderOfCommits()).containsExactly(SMALLER.value());
        } else {
            assertIsConflict(outcome, isolation);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "DEFAULT")
    void work_is_committed_in_the_order_of_its_fences(Isolation isolation) throws Exception {
        collide(isolation, fence -> fences.check(RESOURCE, fence));

        assertThat(inOrderOfCommits()).isNotEmpty().isSorted();
    }

    /** Without the guard the same rounds must show the disorder, or they prove nothing. */
    @Test
    void without_checks_work_is_committed_out_of_order() throws Exception {
        collide(Isolation.READ_COMMITTED, fence -> {});

        List<Long> fencesOfWork = inOrderOfCommits();
        assertThat(fencesOfWork).isNotEqualTo(fencesOfWork.stream().sorted().toList());
    }

    @Test
    void of_two_transactions_that_wait_for_each_other_one_fails_and_can_be_run_again() throws Exception {
        CountDownLatch bothHaveOne = new CountDownLatch(2);
        List<Future<?>> both = List.of(
                threads.submit(() -> checkBoth("a", "b", bothHaveOne)),
                threads.submit(() -> checkBoth("b", "a", bothHaveOne)));

        List<Throwable> failures = new ArrayList<>();
        for (Future<?> each : both) {
            Throwable failure = catchThrowable(() -> each.get(60, TimeUnit.SECONDS));
            if (failure != null) {
                failures.add(failure.getCause());
            }
        }

        assertThat(failures)
                .isNotEmpty()
                .allSatisfy(failure -> assertThat(failure)
                        .isInstanceOfSatisfying(
                                LockException.class,
                                error -> assertThat(error.code())
                                        .isIn(LockErrorCode.SERVICE_UNAVAILABLE, LockErrorCode.NETWORK_TIMEOUT)));
    }

    private void checkBoth(String one, String other, CountDownLatch bothHaveOne) {
        transaction.executeWithoutResult(status -> {
            fences.check(one, SMALLER);
            bothHaveOne.countDown();
            await(bothHaveOne);
            fences.check(other, SMALLER);
        });
    }

    private void assertRefusedBehindTheLarger(Isolation isolation) throws Exception {
        assertRefused(outcomeOfSecond(isolation, LARGER, SMALLER, true), isolation);
        assertThat(inOrderOfCommits()).containsExactly(LARGER.value());
    }

    private static void assertRefused(Throwable outcome, Isolation isolation) {
        if (!(outcome instanceof StaleFenceException)) {
            assertIsConflict(outcome, isolation);
        }
    }

    /**
     * Asserts that the failure is a conflict. It is allowed only if a transaction reads one state of the database to
     * its end.
     */
    private static void assertIsConflict(Throwable outcome, Isolation isolation) {
        assertIsConflict(outcome);
        assertThat(isolation).isIn(Isolation.REPEATABLE_READ, Isolation.SERIALIZABLE);
    }

    private static void assertIsConflict(Throwable outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        LockException.class,
                        error -> assertThat(error.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE));
    }

    /**
     * The second transaction has begun to read before the first one checks, and checks before the first one commits.
     *
     * @return why the second one failed, or {@code null}
     */
    private Throwable outcomeOfSecond(Isolation isolation, Fence first, Fence second, boolean commitFirst)
            throws Exception {
        CountDownLatch secondReads = new CountDownLatch(1);
        CountDownLatch firstHasChecked = new CountDownLatch(1);
        TransactionTemplate isolated = isolated(isolation);
        Future<?> other = threads.submit(() -> isolated.executeWithoutResult(status -> {
            jdbc.queryForList("SELECT * FROM state");
            secondReads.countDown();
            await(firstHasChecked);
            fences.check(RESOURCE, second);
            insert(second);
        }));
        await(secondReads);
        isolated.executeWithoutResult(status -> {
            fences.check(RESOURCE, first);
            insert(first);
            firstHasChecked.countDown();
            assertWaitsOrFails(other);
            if (!commitFirst) {
                status.setRollbackOnly();
            }
        });
        Throwable failure = catchThrowable(() -> other.get(60, TimeUnit.SECONDS));
        return failure == null ? null : failure.getCause();
    }

    private static void assertWaitsOrFails(Future<?> other) {
        try {
            other.get(A_WHILE_MILLIS, TimeUnit.MILLISECONDS);
            throw new AssertionError("The second check has passed, and its transaction was committed before the first");
        } catch (TimeoutException | ExecutionException ex) {
            // The second check waits or fails, as it should.
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Fences are drawn in order, and pass on to transactions that begin in any order. */
    private void collide(Isolation isolation, Consumer<Fence> check) throws Exception {
        AtomicLong drawn = new AtomicLong();
        TransactionTemplate isolated = isolated(isolation);
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            all.add(CompletableFuture.runAsync(
                    () -> {
                        for (int round = 0; round < ROUNDS; round++) {
                            Fence fence = new Fence(drawn.incrementAndGet());
                            pauseSometimes();
                            attempt(isolated, fence, check);
                        }
                    },
                    threads));
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(100, TimeUnit.SECONDS);
    }

    private void attempt(TransactionTemplate isolated, Fence fence, Consumer<Fence> check) {
        try {
            isolated.executeWithoutResult(status -> {
                check.accept(fence);
                pauseSometimes();
                insert(fence);
            });
        } catch (LockException ex) {
            assertThat(ex.code()).isIn(LockErrorCode.LOST, LockErrorCode.SERVICE_UNAVAILABLE);
        }
    }

    private static void pauseSometimes() {
        if (ThreadLocalRandom.current().nextInt(4) == 0) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(3_000_000));
        }
    }

    private void insert(Fence fence) {
        // From the check to the commit one transaction alone has the row of the resource.
        jdbc.update("INSERT INTO work (commit_order, fence) VALUES (?, ?)", order.incrementAndGet(), fence.value());
    }

    private List<Long> inOrderOfCommits() {
        return jdbc.queryForList("SELECT fence FROM work ORDER BY commit_order", Long.class);
    }

    private TransactionTemplate isolated(Isolation isolation) {
        TransactionTemplate isolated = new TransactionTemplate(transaction.getTransactionManager());
        isolated.setIsolationLevel(isolation.value());
        return isolated;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
