package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The end of a lock: it is released once, whatever happens meanwhile, and not before its time to hold at least. */
class ReleaseTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @BugOf("lock4j: a release that is tested the wrong way round never happens")
    @Test
    void a_lock_is_released_once() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(lock.release()).isTrue();
        assertThat(lock.release()).isFalse();
        lock.close();

        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(lock.remaining()).isZero();
        assertThat(fixture.backend.releases).hasValue(1);
    }

    @BugOf("Redisson: ownership by thread id breaks when a lock is handed over")
    @Test
    void any_thread_may_release_and_the_first_may_acquire_again() throws Exception {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(inAnotherThread(lock::release).get()).isTrue();

        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
    }

    @BugOf("SyncGuard for TypeScript: the release is cancelled with its caller")
    @Test
    void a_release_is_sent_by_an_interrupted_thread_too_and_the_flag_stays() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease =
                () -> assertThat(Thread.currentThread().isInterrupted()).isFalse();

        Thread.currentThread().interrupt();
        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isTrue();
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void a_release_that_fails_is_sent_again_in_the_background() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        assertThat(lock.release()).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.backend.beforeRelease = () -> {};

        untilFree();
        assertThat(fixture.events).contains("failed RELEASE SERVICE_UNAVAILABLE");
    }

    @Test
    void a_release_that_never_gets_through_is_given_up_when_the_ttl_is_over() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        lock.release();

        fixture.advanceSlowly(Duration.ofSeconds(40), Duration.ofSeconds(1));
        int sent = fixture.backend.releases.get();
        fixture.advanceSlowly(Duration.ofSeconds(10), Duration.ofSeconds(1));

        assertThat(fixture.backend.releases).hasValue(sent);
        assertThat(sent).isBetween(5, 30);
    }

    @Test
    void the_release_of_a_pinned_row_is_not_waited_for_and_gets_through_later() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.rowsArePinned = true;

        assertThat(lock.release()).isTrue();
        fixture.backend.rowsArePinned = false;

        untilFree();
    }

    @Test
    void the_release_of_a_row_that_was_pinned_for_long_gets_through_within_250_ms_of_its_end() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.rowsArePinned = true;
        lock.release();
        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(100));
        fixture.backend.rowsArePinned = false;

        fixture.advanceSlowly(Duration.ofMillis(250), Duration.ofMillis(10));

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void releases_that_failed_together_go_out_again_in_one_statement() {
        List<LockHandle> handles = IntStream.range(0, 30)
                .mapToObj(i -> locks.acquire(LockRequest.of("k" + i)))
                .toList();
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        handles.forEach(LockHandle::release);
        fixture.advanceSlowly(Duration.ofSeconds(5), Duration.ofMillis(100));
        fixture.backend.beforeRelease = () -> {};
        int before = fixture.backend.releaseAllStatements.get();

        fixture.advanceSlowly(Duration.ofSeconds(2), Duration.ofSeconds(2));

        eventually().until(() -> handles.stream().noneMatch(lock -> locks.isLocked(lock.key())));
        assertThat(fixture.backend.releaseAllStatements).hasValueLessThanOrEqualTo(before + 2);
    }

    @Test
    void a_release_by_lock_id_of_a_pinned_row_is_not_waited_for_and_gets_through_later() {
        AcquireRequest request = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        fixture.backend.rowsArePinned = true;

        assertThat(locks.release(request.lockId())).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.backend.rowsArePinned = false;

        untilFree();
    }

    @Test
    void a_lock_that_is_to_be_held_at_least_for_a_time_stays_taken_without_a_thread() {
        template.execute(REQUEST.holdAtLeast(Duration.ofSeconds(10)), lock -> lock);

        assertThat(fixture.events).containsExactly("acquired", "released");
        fixture.time.advance(Duration.ofMillis(9_999));
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
        assertThat(fixture.backend.releases).hasValue(0);
    }

    /** The tolerance is a second: the end of the stored lease has to be before its release. */
    @Test
    void a_time_to_hold_that_is_shorter_than_the_tolerance_is_kept_too() {
        template.execute(REQUEST.holdAtLeast(Duration.ofMillis(300)), lock -> lock);

        fixture.time.advance(Duration.ofMillis(299));
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
    }

    @Test
    void who_waits_for_a_lock_that_is_to_be_held_for_a_time_gets_it_when_that_is_over() throws Exception {
        LockHandle lock = locks.acquire(REQUEST.holdAtLeast(Duration.ofSeconds(3)));
        FutureTask<LockHandle> waiter = fixture.startWaiting(REQUEST.waitTime(Duration.ofMinutes(1)));
        fixture.settle();

        lock.release();
        fixture.settle();
        fixture.time.advance(Duration.ofMillis(2_999));
        fixture.settle();
        assertThat(waiter.isDone()).isFalse();
        fixture.time.advance(Duration.ofMillis(1));

        assertThat(EngineFixture.got(waiter).isHeld()).isTrue();
    }

    @Test
    void a_release_that_is_repeated_when_the_time_to_hold_is_over_frees_the_key_at_once() {
        LockHandle lock = locks.acquire(REQUEST.holdAtLeast(Duration.ofSeconds(10)));
        fixture.time.advance(Duration.ofMillis(9_990));
        fixture.backend.rowsArePinned = true;

        assertThat(lock.release()).isTrue();
        fixture.settle();
        fixture.time.advance(Duration.ofMillis(10));
        fixture.backend.rowsArePinned = false;

        untilFree();
        assertThat(fixture.backend.releases).as("by a plain release").hasPositiveValue();
    }

    @Test
    void a_reader_that_is_to_be_held_for_a_time_keeps_writers_out_until_that_is_over() {
        template.execute(REQUEST.shared().holdAtLeast(Duration.ofSeconds(10)), lock -> lock);

        fixture.time.advance(Duration.ofMillis(9_999));
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        assertThat(locks.tryAcquire(REQUEST.shared()).release()).isTrue();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(locks.tryAcquire(REQUEST)).isNotNull();
    }

    @Test
    void the_time_to_hold_at_least_is_asked_for_again_when_that_fails() {
        fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        template.execute(
                REQUEST.ttl(Duration.ofSeconds(5)).noHeartbeat().holdAtLeast(Duration.ofMinutes(10)), lock -> lock);
        fixture.backend.beforeRelease = () -> {};

        fixture.advanceSlowly(Duration.ofSeconds(2), Duration.ofMillis(100));
        fixture.time.advance(Duration.ofMinutes(9));

        assertThat(locks.isLocked("order:42")).isTrue();
    }

    @Test
    void a_lock_that_was_held_long_enough_is_released() {
        template.execute(REQUEST.holdAtLeast(Duration.ofSeconds(10)), lock -> {
            fixture.time.advance(Duration.ofSeconds(10));
            return lock;
        });

        assertThat(locks.isLocked("order:42")).isFalse();
    }

    /** Moves the clock until the background has read it and sent the release. */
    private void untilFree() {
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(100));
            return !locks.isLocked("order:42");
        });
    }
}
