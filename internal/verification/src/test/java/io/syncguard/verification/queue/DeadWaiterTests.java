package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.testing.ChildJvm;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that is first in the queue and dies, or stands still, delays the waiters behind it by little more than the
 * five seconds for which its queue entry lives. Both happen at the same time, to the queues of two keys.
 */
@Tag("verification")
@ParameterizedClass
@EnumSource(QueueStore.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadWaiterTests {

    private static final Duration SLACK = Duration.ofSeconds(2);

    @Parameter
    private QueueStore store;

    private QueueServer server;
    private LockEngine locks;
    private ChildJvm killed;
    private ChildJvm paused;
    private Duration behindTheKilled;
    private Duration behindThePaused;

    @BeforeParameterizedClassInvocation
    void killAndPause() throws Exception {
        server = store.start();
        locks = QueueProcess.locks(server.url());
        killed = ChildJvm.start(QueueProcess.class, server.url());
        paused = ChildJvm.start(QueueProcess.class, server.url());
        LockHandle first = locks.acquire(LockRequest.of("killed"));
        LockHandle second = locks.acquire(LockRequest.of("paused"));
        killed.ask("queue victim killed exclusive");
        paused.ask("queue victim paused exclusive");
        awaitWaiters(1);
        CompletableFuture<Long> afterKilled = waiter("killed");
        CompletableFuture<Long> afterPaused = waiter("paused");
        awaitWaiters(2);

        long began = System.nanoTime();
        killed.kill();
        paused.pause();
        first.release();
        second.release();

        behindTheKilled = Duration.ofNanos(afterKilled.get(1, TimeUnit.MINUTES) - began);
        behindThePaused = Duration.ofNanos(afterPaused.get(1, TimeUnit.MINUTES) - began);
        System.out.println("granted behind a waiter that was killed after " + behindTheKilled.toMillis()
                + " ms, behind one that was paused after " + behindThePaused.toMillis() + " ms");
    }

    @AfterParameterizedClassInvocation
    void end() {
        killed.close();
        paused.close();
        locks.close();
        server.close();
    }

    @Test
    void who_waits_behind_a_process_that_was_killed_is_granted_when_its_queue_entry_is_over() {
        assertThat(behindTheKilled).isLessThan(PostgresSettings.WAITER_TTL.plus(SLACK));
    }

    @Test
    void who_waits_behind_a_process_that_stands_still_is_granted_when_its_queue_entry_is_over() {
        assertThat(behindThePaused).isLessThan(PostgresSettings.WAITER_TTL.plus(SLACK));
    }

    @Test
    void the_process_that_stood_still_comes_again() {
        paused.resume();

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> paused.ask("held").startsWith("victim="));
    }

    /** Waits for the key and releases it at once; answers when it was granted. */
    private CompletableFuture<Long> waiter(String key) {
        CompletableFuture<Long> granted = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    LockHandle lock = locks.acquire(LockRequest.of(key).waitTime(Duration.ofMinutes(1)));
                    granted.complete(System.nanoTime());
                    lock.release();
                },
                "waiter");
        thread.setDaemon(true);
        thread.start();
        return granted;
    }

    private void awaitWaiters(int each) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> server.waiters("killed") == each && server.waiters("paused") == each);
    }
}
