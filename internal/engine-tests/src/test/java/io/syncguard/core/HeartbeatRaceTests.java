package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A heartbeat is under way while its lock is released (in pglock this looked like a loss) or granted again. */
class HeartbeatRaceTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private final EngineFixture fixture = new EngineFixture();
    private final LockEngine locks = fixture.engine;
    private final CountDownLatch underWay = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @AfterEach
    void close() {
        goOn.countDown();
        fixture.close();
    }

    @Test
    void a_heartbeat_that_arrives_after_the_release_finds_nothing_and_reports_no_loss() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = this::standStill;
        tick();

        assertThat(lock.release()).isTrue();
        letTickEnd();

        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(fixture.events).containsExactly("acquired", "released");
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @BugOf("pglock 36: the release races the heartbeat")
    @Test
    void a_heartbeat_whose_answer_comes_after_the_release_brings_nothing_back() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.afterExtend = this::standStill;
        tick();

        assertThat(lock.release()).isTrue();
        letTickEnd();

        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(fixture.events).containsExactly("acquired", "released");
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @BugOf("Curator: two sessions are mixed up")
    @Test
    void a_heartbeat_of_the_grant_before_touches_neither_handle_nor_lease_of_the_next() throws Exception {
        LockHandle before = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = this::standStill;
        tick();
        before.release();
        LockHandle next = locks.acquire(REQUEST.noHeartbeat());

        letTickEnd();

        assertThat(next.isHeld()).isTrue();
        assertThat(next.remaining()).isEqualTo(EngineFixture.TTL);
        assertThat(fixture.events).containsExactly("acquired", "released", "acquired");
        assertThat(locks.admin().lookup("order:42").orElseThrow().expiresAt()).isEqualTo(next.expiresAt());
    }

    /** A tick in two statements has chosen the locks of the second one before it sends the first. */
    @Test
    void a_lock_that_is_released_between_two_statements_of_a_tick_is_not_in_the_second() throws Exception {
        LockRequest kept = REQUEST.holdAtLeast(Duration.ofSeconds(20));
        List<LockHandle> handles = IntStream.range(0, DueRequests.CHUNK + 2)
                .mapToObj(i -> locks.acquire(kept.key("k" + i)))
                .toList();
        Set<String> first = ConcurrentHashMap.newKeySet();
        fixture.backend.onExtensions = extensions ->
                extensions.forEach(extension -> first.add(extension.id().lockId()));
        fixture.backend.beforeExtend = this::standStill;
        tick();
        fixture.backend.onExtensions = extensions -> {};
        LockHandle last = handles.stream()
                .filter(handle -> !first.contains(handle.lockId()))
                .findFirst()
                .orElseThrow();

        assertThat(last.release()).isTrue();
        letTickEnd();

        eventually().until(() -> Collections.frequency(fixture.events, "extended") == DueRequests.CHUNK + 1);
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(locks.isLocked(last.key()))
                .as("kept for twenty seconds since its grant and no longer")
                .isFalse();
    }

    @Test
    void the_time_to_hold_at_least_is_not_lengthened_by_a_heartbeat_that_is_under_way() throws Exception {
        LockHandle lock = locks.acquire(REQUEST.holdAtLeast(Duration.ofSeconds(20)));
        fixture.backend.beforeExtend = this::standStill;
        tick();

        var releasing = EngineFixture.inAnotherThread(lock::release);
        fixture.settle();
        letTickEnd();

        eventually().until(releasing::isDone);
        assertThat(releasing.get()).isTrue();
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    /** Starts a heartbeat, ten seconds after the grants, and waits until it stops in the middle. */
    private void tick() throws InterruptedException {
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(underWay.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private void standStill() {
        fixture.backend.beforeExtend = () -> {};
        fixture.backend.afterExtend = () -> {};
        underWay.countDown();
        HeartbeatTests.awaitQuietly(goOn);
    }

    private void letTickEnd() {
        goOn.countDown();
        fixture.settle();
    }
}
