package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The work of the library itself goes on, whatever callers request and whichever of its sessions are terminated: locks
 * are extended, and waiters go on waiting.
 *
 * <p>{@code -Dsyncguard.stress.seconds} makes each run longer.
 */
@Tag("verification")
class PostgresStarvationStressTests {

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final int HOLDERS = 50;

    /** The first heartbeat comes after a third of that, and has the other two thirds to succeed. */
    private static final Duration TTL = Duration.ofSeconds(3);

    private static final int CALLERS = 450;

    private static final int WAITERS = 20;

    /**
     * The safety poll of a waiter comes after a third of that. The pool does not test a connection that was used so
     * recently.
     */
    private static final Duration WAITER_TTL = Duration.ofSeconds(1);

    private static final long BETWEEN_TERMINATIONS_NANOS = 250_000_000L;

    /**
     * The session that has sent a safety poll since the last termination, if there is one: the library repeats one
     * failure, not two.
     */
    private static final String TERMINATE = """
            SELECT pid, pg_terminate_backend(pid) FROM (
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE '%syncguard_locks_renew_waiters(%'
                    AND state = 'idle' AND state_change > ?::timestamptz
                ORDER BY state_change DESC LIMIT 1) AS victim
            """;

    private final String url = PostgresServer.newDatabaseUrl();
    private final ConcurrentLinkedQueue<String> lost = new ConcurrentLinkedQueue<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger ready = new AtomicInteger();
    private final CountDownLatch began = new CountDownLatch(1);
    private final AtomicInteger made = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private LockEngine locks;

    /** Written by the test, read by the callers. */
    private volatile boolean ended;

    @AfterEach
    void close() {
        ended = true;
        threads.shutdownNow();
        locks.close();
    }

    @Test
    void hundreds_of_threads_that_extend_rotate_fences_and_acquire_cost_nobody_else_a_lock() {
        assertHeldBeside(List.of(
                lock -> lock.extend(PATIENCE),
                LockHandle::rotateFence,
                lock -> locks.acquire(LockRequest.of(lock.key() + "-other")).release()));
    }

    @Test
    void hundreds_of_threads_that_release_before_the_time_to_hold_is_over_cost_nobody_else_a_lock() {
        assertHeldBeside(List.of(lock ->
                giveBackEarly(lock.key() + "-" + ThreadLocalRandom.current().nextInt(100))));
    }

    @Test
    void waits_survive_sessions_that_are_terminated_one_at_a_time() throws Exception {
        locks = engine(WAITER_TTL);
        LockHandle held = locks.acquire(LockRequest.of("key").ttl(PATIENCE));
        List<Future<Boolean>> waits = IntStream.range(0, WAITERS)
                .mapToObj(i -> threads.submit(() -> {
                    locks.acquire(LockRequest.of("key").waitTime(PATIENCE)).release();
                    return true;
                }))
                .toList();
        JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
        int terminated = 0;
        String last = "-infinity";
        for (long end = end(4); System.nanoTime() < end; ) {
            LockSupport.parkNanos(BETWEEN_TERMINATIONS_NANOS);
            String now = jdbc.queryForObject("SELECT clock_timestamp()::text", String.class);
            if (!jdbc.queryForList(TERMINATE, last).isEmpty()) {
                last = now;
                terminated++;
            }
        }
        held.release();
        List<String> failed = new ArrayList<>();
        for (Future<Boolean> wait : waits) {
            try {
                wait.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException ex) {
                failed.add(String.valueOf(ex.getCause()));
            }
        }
        System.out.println(terminated + " sessions terminated, " + failed.size() + " of " + WAITERS + " waits failed");
        assertThat(terminated).isPositive();
        assertThat(failed).isEmpty();
    }

    private void assertHeldBeside(List<Consumer<LockHandle>> calls) {
        locks = engine(WAITER_TTL);
        IntStream.range(0, CALLERS)
                .forEach(i -> threads.submit(() -> callAgainAndAgain("caller-" + i, calls.get(i % calls.size()))));
        Awaitility.await().atMost(PATIENCE).until(() -> ready.get() == CALLERS);
        List<LockHandle> held = IntStream.range(0, HOLDERS)
                .mapToObj(i -> locks.acquire(LockRequest.of("held-" + i).ttl(TTL)))
                .toList();
        began.countDown();
        for (long end = end(5); System.nanoTime() < end; ) {
            LockSupport.parkNanos(50_000_000L);
        }
        List<String> notHeld = held.stream()
                .filter(lock -> !lock.isHeld())
                .map(LockHandle::key)
                .toList();
        ended = true;
        System.out.println(
                made + " calls, " + failed + " failed; of " + HOLDERS + " other locks " + notHeld.size() + " lost");
        held.forEach(LockHandle::release);
        assertThat(made).as("calls").hasPositiveValue();
        assertThat(notHeld).as("locks that their holders lost").isEmpty();
        assertThat(lost).as("reported losses").noneMatch(key -> key.startsWith("held-"));
    }

    /** A release sets the lease to end when its time to hold is over. */
    private void giveBackEarly(String key) {
        LockHandle lock = locks.tryAcquire(LockRequest.of(key).holdAtLeast(Duration.ofMillis(300)));
        if (lock != null) {
            lock.release();
        }
    }

    private void callAgainAndAgain(String key, Consumer<LockHandle> call) {
        while (!ended) {
            try (LockHandle lock = locks.acquire(
                    LockRequest.of(key).ttl(PATIENCE).waitTime(PATIENCE).noHeartbeat())) {
                if (began.getCount() > 0) {
                    ready.incrementAndGet();
                    began.await();
                }
                while (!ended) {
                    call.accept(lock);
                    made.incrementAndGet();
                }
            } catch (InterruptedException ex) {
                return;
            } catch (LockException ex) {
                // Callers may wait too long for each other.
                failed.incrementAndGet();
            }
        }
    }

    private LockEngine engine(Duration waiterTtl) {
        return new LockEngine(
                ApplicationBackend.on(url, 8, Duration.ofSeconds(5), waiterTtl),
                DefaultSettings.of("starving"),
                TransactionBoundary.NONE,
                List.of(new LockListener() {
                    @Override
                    public void lost(LockEvent event) {
                        lost.add(event.key());
                    }
                }));
    }

    private static long end(int seconds) {
        return System.nanoTime() + Integer.getInteger("syncguard.stress.seconds", seconds) * 1_000_000_000L;
    }
}
