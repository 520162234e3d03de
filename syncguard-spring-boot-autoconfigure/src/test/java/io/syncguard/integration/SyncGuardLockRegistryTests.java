package io.syncguard.integration;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockInfo;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.LockEngine;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.integration.support.locks.DistributedLock;

/** The contract of Spring Integration's registries, on a clock that the test moves. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // an interrupt does not end a plain lock
class SyncGuardLockRegistryTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofHours(1);
    private static final String KEY = "integration:42";

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final SyncGuardLockRegistry registry = registryNamed("integration");
    private final DistributedLock lock = registry.obtain("42");

    /** A way to lock. */
    interface Locking {
        boolean on(DistributedLock lock) throws InterruptedException;
    }

    static Stream<Locking> everyWay() {
        return Stream.concat(
                patientWays(), Stream.of(DistributedLock::tryLock, lock -> lock.tryLock(Duration.ZERO, TTL)));
    }

    static Stream<Locking> patientWays() {
        return Stream.concat(interruptibleWays(), uninterruptibleWays());
    }

    static Stream<Locking> interruptibleWays() {
        return Stream.of(
                lock -> {
                    lock.lockInterruptibly();
                    return true;
                },
                lock -> lock.tryLock(1, TimeUnit.HOURS),
                lock -> lock.tryLock(LONG, TTL));
    }

    static Stream<Locking> uninterruptibleWays() {
        return Stream.of(
                lock -> {
                    lock.lock();
                    return true;
                },
                lock -> {
                    lock.lock(TTL);
                    return true;
                });
    }

    @Test
    void a_mock_of_a_lock_manager_is_named() {
        Lock lock = new SyncGuardLockRegistry(mock(LockManager.class), "registry", TTL).obtain("42");

        assertThatThrownBy(lock::lock)
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("returned null, as a mock does")
                .hasMessageContaining("@AutoConfigureTestLocks");
        assertThatThrownBy(lock::tryLock)
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("returned null, as a mock does")
                .hasMessageContaining("@AutoConfigureTestLocks");
    }

    @Test
    void a_mock_of_a_store_that_is_current_is_named_by_a_registry() throws Exception {
        LockManager manager = mock();
        when(manager.current()).thenReturn(manager);
        Lock lock = new SyncGuardLockRegistry(manager, "registry", TTL).obtain("42");

        assertThatThrownBy(lock::lock)
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("LockManager.acquire returned null, as a mock does");
        assertThatThrownBy(lock::lockInterruptibly)
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("LockManager.acquire returned null, as a mock does");
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS))
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("LockManager.acquire returned null, as a mock does");
        assertThat(lock.tryLock()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void a_locked_key_is_taken_until_it_is_unlocked(Locking way) throws Exception {
        assertThat(way.on(lock)).isTrue();
        assertThat(locks.isLocked(KEY)).isTrue();

        lock.unlock();

        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void a_thread_locks_again_without_asking_the_server_and_unlocks_as_often(Locking way) throws Exception {
        lock.lock();
        assertThat(way.on(registry.obtain("42"))).isTrue();
        assertThat(fixture.backend.acquires).hasValue(1);

        lock.unlock();
        assertThat(locks.isLocked(KEY)).isTrue();
        registry.obtain("42").unlock();
        assertThat(locks.isLocked(KEY)).isFalse();
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
    }

    @ParameterizedTest
    @MethodSource("patientWays")
    void another_thread_waits_until_the_lock_is_unlocked(Locking way) throws Exception {
        lock.lock();
        FutureTask<Boolean> waiter = startWaiting(() -> way.on(lock));

        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));
        assertThat(waiter.isDone()).isFalse();
        lock.unlock();

        assertThat(got(waiter)).isTrue();
        assertThat(lock.tryLock()).isFalse();
    }

    @Test
    void a_try_of_another_thread_ends_when_its_time_is_over() throws Exception {
        lock.lock();
        FutureTask<Boolean> waiter = startWaiting(() -> lock.tryLock(10, TimeUnit.SECONDS));

        fixture.time.advance(Duration.ofSeconds(10));

        assertThat(got(waiter)).isFalse();
        assertThat(got(inAnotherThread(() -> lock.tryLock()))).isFalse();
        assertThat(got(inAnotherThread(() -> lock.tryLock(Duration.ofSeconds(-1), TTL))))
                .isFalse();
    }

    @Test
    void the_longest_wait_time_is_no_error() throws Exception {
        assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
    }

    @Test
    void another_thread_cannot_unlock_or_renew() throws Exception {
        lock.lock();

        got(inAnotherThread(() -> {
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(lock::unlock)
                    .withMessageContaining(KEY);
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> registry.renewLock("42"));
            return true;
        }));

        assertThat(locks.isLocked(KEY)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("uninterruptibleWays")
    void an_interrupt_does_not_end_the_wait_of_a_plain_lock_and_stays(Locking way) throws Exception {
        lock.lock();
        FutureTask<Thread> started = new FutureTask<>(Thread::currentThread);
        FutureTask<Boolean> waiter = startWaiting(() -> {
            started.run();
            way.on(lock);
            return Thread.currentThread().isInterrupted();
        });
        for (int i = 0; i < 3; i++) {
            got(started).interrupt();
            fixture.settle();
        }
        lock.unlock();

        assertThat(got(waiter)).isTrue();
        assertThat(locks.isLocked(KEY)).isTrue();
    }

    @Test
    void an_interrupted_thread_gets_a_free_lock() {
        Thread.currentThread().interrupt();
        assertThat(lock.tryLock()).isTrue();
        assertThat(Thread.interrupted()).isTrue();

        Thread.currentThread().interrupt();
        registry.obtain("43").lock();
        registry.obtain("43").unlock();
        assertThat(Thread.interrupted()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("interruptibleWays")
    void an_interrupt_ends_the_wait_of_the_other_ways_and_is_consumed(Locking way) throws Exception {
        lock.lock();
        FutureTask<Thread> started = new FutureTask<>(Thread::currentThread);
        FutureTask<Boolean> waiter = startWaiting(() -> {
            started.run();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> way.on(lock));
            return Thread.currentThread().isInterrupted();
        });
        got(started).interrupt();

        assertThat(got(waiter)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("interruptibleWays")
    void an_interrupted_thread_does_not_begin_to_wait(Locking way) {
        lock.lock();
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> way.on(lock));

        assertThat(Thread.interrupted()).isFalse();
        lock.unlock();
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @Test
    void heartbeats_keep_a_lock_longer_than_its_ttl() {
        lock.lock(Duration.ofSeconds(6));

        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(1));

        assertThat(locks.isLocked(KEY)).isTrue();
        lock.unlock();
    }

    @Test
    void a_ttl_of_its_own_is_that_of_the_lease() throws Exception {
        lock.lock();
        assertThat(ttlOf(KEY)).isEqualTo(TTL);
        lock.unlock();

        lock.lock(Duration.ofSeconds(6));
        assertThat(ttlOf(KEY)).isEqualTo(Duration.ofSeconds(6));
        lock.unlock();

        lock.tryLock(Duration.ZERO, Duration.ofSeconds(7));
        assertThat(ttlOf(KEY)).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void a_renewal_extends_the_lease_from_now_on() {
        lock.lock();
        fixture.time.advance(Duration.ofSeconds(1));

        registry.renewLock("42");
        assertThat(ttlOf(KEY)).isEqualTo(TTL.plusSeconds(1));
        registry.renewLock("42", LONG);
        assertThat(ttlOf(KEY)).isEqualTo(LONG.plusSeconds(1));
    }

    @Test
    void the_unlock_of_a_lost_lock_fails_and_the_thread_may_lock_it_again() {
        lock.lock();
        lock.lock();
        lose(lock);

        lock.unlock();
        assertThatExceptionOfType(ConcurrentModificationException.class)
                .isThrownBy(lock::unlock)
                .withMessageContaining(KEY)
                .withCauseInstanceOf(LockLostException.class);

        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @Test
    void the_unlock_of_a_lock_that_was_released_by_its_lock_id_fails() {
        lock.lock();
        locks.release(locks.admin().debugLookup(KEY).get(0).lockId());

        assertThatExceptionOfType(ConcurrentModificationException.class)
                .isThrownBy(lock::unlock)
                .withMessageContaining(KEY);
        assertThat(lock.tryLock()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("everyWay")
    void a_thread_cannot_lock_again_what_it_has_lost(Locking way) {
        lock.lock();
        lose(lock);

        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> way.on(lock));
        assertThatIllegalStateException()
                .isThrownBy(() -> registry.renewLock("42"))
                .withMessageContaining(KEY);

        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
    }

    @Test
    void an_unavailable_server_is_an_error_and_not_contention() {
        fixture.backend.beforeAcquire = () -> {
            throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "unplugged", null);
        };

        assertThat(everyWay())
                .hasSize(7)
                .allSatisfy(way ->
                        assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> way.on(lock)));
    }

    @Test
    void an_application_that_stops_does_not_wait() {
        locks.stop();

        assertThat(everyWay())
                .hasSize(7)
                .allSatisfy(way -> assertThatExceptionOfType(LockException.class)
                        .isThrownBy(() -> way.on(lock))
                        .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED)));
    }

    @Test
    void the_key_is_that_of_the_annotation_with_this_name_and_key() {
        locks.acquire(LockRequest.of("integration", "42"));

        assertThat(lock.tryLock()).isFalse();
        assertThat(registryNamed("integration").obtain("42").tryLock()).isFalse();
        assertThat(registryNamed("other").obtain("42").tryLock()).isTrue();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(longs = 42)
    void a_key_that_is_no_text_is_refused(Object key) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.obtain(key))
                .withMessageContaining(String.valueOf(key));
    }

    @Test
    void a_blank_key_is_refused() {
        assertThatExceptionOfType(LockException.class).isThrownBy(() -> registry.obtain(" "));
    }

    /** As the one object that Spring Integration's registries keep for a key, such as in a map of an application. */
    @Test
    void the_locks_of_a_key_are_equal_within_a_registry() {
        DistributedLock again = registry.obtain("42");

        assertThat(again).isEqualTo(lock).hasSameHashCodeAs(lock);
        assertThat(registry.obtain("e\u0301")).isEqualTo(registry.obtain("\u00e9"));
        assertThat(lock)
                .isNotEqualTo(registry.obtain("43"))
                .isNotEqualTo(registryNamed("other").obtain("42"))
                .isNotEqualTo(null);
        assertThat(registryNamed("integration").obtain("42"))
                .as("of another registry, whose locks its threads do not hold here")
                .isNotEqualTo(lock);
    }

    @Test
    void there_are_no_conditions() {
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
    }

    @Test
    void nothing_is_kept_of_a_lock_that_is_not_held() {
        lock.lock();
        registry.expireUnusedOlderThan(0);
        assertThat(locks.isLocked(KEY)).isTrue();

        lock.unlock();

        assertThat(registry)
                .extracting("held.locks")
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .isEmpty();
    }

    @Test
    void a_task_runs_locked() throws Exception {
        Boolean locked = registry.executeLocked("42", () -> locks.isLocked(KEY));

        assertThat(locked).isTrue();
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    private SyncGuardLockRegistry registryNamed(String name) {
        return new SyncGuardLockRegistry(locks, name, TTL);
    }

    private FutureTask<Boolean> startWaiting(Callable<Boolean> locking) {
        FutureTask<Boolean> waiter = inAnotherThread(locking);
        eventually().until(() -> !fixture.store.queue(KEY).isEmpty());
        return waiter;
    }

    private void lose(Lock held) {
        fixture.store.expire(KEY);
        assertThatIllegalStateException().isThrownBy(() -> registry.renewLock("42"));
    }

    private Duration ttlOf(String key) {
        LockInfo info = locks.admin().lookup(key).orElseThrow();
        return Duration.between(info.acquiredAt(), info.expiresAt());
    }
}
