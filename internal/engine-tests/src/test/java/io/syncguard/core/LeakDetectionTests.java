package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.LockCallback;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderSettings;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A handle that its application forgot is reported, with the place where it was acquired, and no other lock is. */
class LeakDetectionTests {

    private static final Duration THRESHOLD = Duration.ofMinutes(10);

    private static final Duration TTL = Duration.ofHours(1);

    private static final LockRequest ORDER = LockRequest.of("order:42").ttl(TTL);

    private static final String WARNING = "Lock 'order:42' has been held for 600000 ms, and no body runs under it: its"
            + " handle may have been forgotten. The stack trace shows where it was acquired";

    private final List<Runnable> transactionEnds = new ArrayList<>();
    private boolean inTransaction;
    private final EngineFixture fixture = fixture(THRESHOLD);
    private final LockEngine locks = fixture.engine;
    private final CapturedLog log = new CapturedLog(Level.INFO);

    @AfterEach
    void close() {
        fixture.close();
        log.close();
    }

    /** Whatever the way to a lock was. */
    enum WayToForget {
        HANDLE(locks -> locks.acquire(ORDER)),
        TRY(locks -> locks.tryAcquire(ORDER)),
        SHARED(locks -> locks.acquire(ORDER.shared())),
        WITHOUT_HEARTBEAT(locks -> locks.acquire(ORDER.noHeartbeat())),
        WITH_OTHERS(locks -> locks.acquire(List.of(ORDER, LockRequest.of("a"))).all().stream()
                .skip(1)
                .forEach(LockHandle::close)),
        JOINED_HANDLE_RELEASED(locks ->
                locks.acquire(ORDER).bind(() -> locks.acquire(ORDER).release()).call()),
        AFTER_ITS_BODY(locks -> locks.acquire(ORDER).bind(() -> "body").call());

        private final Way way;

        WayToForget(Way way) {
            this.way = way;
        }

        void forget(LockManager locks) throws Exception {
            way.forget(locks);
        }

        private interface Way {
            void forget(LockManager locks) throws Exception;
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_handle_that_was_forgotten_is_reported_once_with_the_place_of_its_acquisition(WayToForget way)
            throws Exception {
        way.forget(locks);
        pass(THRESHOLD.minusMillis(1));
        assertThat(log.messages()).isEmpty();

        // One that a body used is looked at again.
        pass(Duration.ofMillis(1));
        pass(THRESHOLD);
        eventually().until(() -> fixture.events.contains("leaked"));
        pass(THRESHOLD);

        assertThat(log.messages()).singleElement().asString().startsWith("Lock 'order:42' has been held for ");
        assertThat(log.stackTraces())
                .singleElement()
                .asString()
                .contains("Acquired on the thread " + Thread.currentThread().getName(), "LeakDetectionTests.java");
        assertThat(fixture.events.stream().filter("leaked"::equals)).hasSize(1);
    }

    @Test
    void the_report_comes_at_the_threshold_and_a_later_release_is_logged() {
        LockHandle lock = locks.acquire(ORDER);
        pass(THRESHOLD);
        eventually().until(() -> !log.messages().isEmpty());

        fixture.time.advance(Duration.ofSeconds(1));
        lock.release();

        assertThat(log.messages())
                .containsExactly(
                        WARNING, "Lock 'order:42', which was reported as forgotten, was released after 601000 ms");
    }

    @Test
    void a_release_by_the_lock_id_is_logged_like_that_of_the_handle() {
        String lockId = locks.acquire(ORDER).lockId();
        pass(THRESHOLD);
        eventually().until(() -> !log.messages().isEmpty());

        locks.release(lockId);

        assertThat(log.messages()).hasSize(2);
        assertThat(log.messages().toString() + log.stackTraces()).doesNotContain(lockId);
    }

    @Test
    void a_loss_after_the_report_is_only_logged_as_a_loss() {
        locks.acquire(ORDER.noHeartbeat());
        pass(THRESHOLD);
        eventually().until(() -> !log.messages().isEmpty());

        fixture.time.advance(TTL);
        eventually().until(() -> fixture.events.contains("lost"));

        assertThat(log.messages()).hasSize(2).last().asString().startsWith("Lost lock 'order:42'");
    }

    @ParameterizedTest
    @EnumSource
    void a_body_may_take_as_long_as_it_needs(OnLost onLost) throws Exception {
        CountDownLatch works = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        LockCallback<Integer, InterruptedException> body = lock -> {
            works.countDown();
            ends.await();
            return 42;
        };
        FutureTask<Integer> running =
                inAnotherThread(() -> new LockTemplate(locks).execute(ORDER.onLost(onLost), body));
        works.await();

        pass(THRESHOLD);
        pass(THRESHOLD);
        pass(THRESHOLD.minusSeconds(1));
        ends.countDown();
        EngineFixture.got(running);
        pass(THRESHOLD);

        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_handle_that_bodies_use_again_and_again_is_in_use() throws Exception {
        LockHandle lock = locks.acquire(ORDER);
        for (int i = 0; i < 4; i++) {
            pass(THRESHOLD.minusMinutes(1));
            lock.bind(() -> "body").call();
        }
        lock.release();

        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_release_that_waits_for_its_transaction_was_not_forgotten() {
        inTransaction = true;
        locks.acquire(ORDER).release();
        pass(THRESHOLD);
        pass(THRESHOLD);
        assertThat(log.messages()).isEmpty();

        transactionEnds.forEach(Runnable::run);
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(log.messages()).isEmpty();
    }

    /** The names of {@code @DistributedLock} are the keys, or what the keys begin with. */
    @ParameterizedTest
    @ValueSource(strings = {"leader:import", "leader:import:42"})
    void a_lock_whose_name_is_like_that_of_an_election_is_reported(String key) {
        locks.acquire(ORDER.key(key).meterName("leader:import"));
        pass(THRESHOLD);

        eventually().until(() -> fixture.events.contains("leaked"));
        assertThat(log.messages()).anyMatch(message -> message.contains("Lock '" + key + "' has been held"));
    }

    @Test
    void a_leader_leads_as_long_as_it_can() {
        LeaderElection election = new LeaderElection(locks, "test", Duration.ZERO);
        election.define("scheduler", LeaderSettings.of(TTL).fenceRotation(Duration.ZERO), locks);
        election.start();
        election.join("scheduler");
        eventually().until(() -> election.isLeader("scheduler"));

        pass(THRESHOLD);
        pass(THRESHOLD);

        assertThat(election.isLeader("scheduler")).isTrue();
        assertThat(fixture.events).doesNotContain("leaked");
        assertThat(log.messages()).noneMatch(message -> message.contains("forgotten"));
        election.stop();
    }

    @Test
    void without_a_threshold_there_is_neither_a_report_nor_a_thread() {
        try (EngineFixture off = fixture(Duration.ZERO)) {
            off.engine.acquire(ORDER.noHeartbeat());
            off.time.advance(TTL.minusSeconds(1));
            off.settle();

            assertThat(log.messages()).isEmpty();
            // The thread belongs to the other engine.
            assertThat(Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().equals("syncguard-leaks")))
                    .hasSizeLessThanOrEqualTo(1);
        }
    }

    private void pass(Duration time) {
        fixture.time.advance(time);
        fixture.settle();
    }

    private EngineFixture fixture(Duration threshold) {
        EngineSettings defaults = DefaultSettings.of("test");
        return new EngineFixture(
                new EngineSettings(
                        defaults.owner(),
                        defaults.ttl(),
                        defaults.waitTime(),
                        defaults.firstRetry(),
                        defaults.longestRetry(),
                        defaults.shutdownTimeout(),
                        threshold,
                        Map.of()),
                (lease, afterCompletion) -> {
                    if (inTransaction) {
                        inTransaction = false;
                        transactionEnds.add(afterCompletion);
                        return 1;
                    }
                    return 0;
                });
    }
}
