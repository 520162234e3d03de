package io.syncguard.shedlock;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.IllegalKeyException;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What ShedLock's own tests leave open, on a clock that the test moves. */
class SyncGuardLockProviderTests {

    private static final Duration AT_MOST = Duration.ofMinutes(10);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final SyncGuardLockProvider provider = new SyncGuardLockProvider(locks);

    @Test
    void the_lock_ends_at_its_end_while_its_process_lives_and_others_have_it_at_once() {
        lock(AT_MOST, Duration.ZERO);

        fixture.advanceSlowly(AT_MOST.minusSeconds(1), Duration.ofMinutes(1).minusMillis(100));
        assertThat(provider.lock(report(AT_MOST, Duration.ZERO))).isEmpty();
        fixture.time.advance(Duration.ofSeconds(1));

        eventually().until(() -> provider.lock(report(AT_MOST, Duration.ZERO)).isPresent());
        assertThat(fixture.backend.extendStatements).as("heartbeats").hasValue(0);
        assertThat(fixture.events).contains("lost");
    }

    @Test
    void a_lock_of_a_process_that_died_ends_a_tolerance_later() {
        try (EngineFixture died = new EngineFixture(new InMemoryLockBackend(fixture.store))) {
            new SyncGuardLockProvider(died.engine)
                    .lock(report(AT_MOST, Duration.ZERO))
                    .orElseThrow();

            fixture.time.advance(AT_MOST.plusMillis(999));
            assertThat(provider.lock(report(AT_MOST, Duration.ZERO))).isEmpty();
            fixture.time.advance(Duration.ofMillis(1));
            assertThat(provider.lock(report(AT_MOST, Duration.ZERO))).isPresent();
        }
    }

    @Test
    void an_extension_and_an_unlock_stay_in_the_store_of_the_lock() {
        try (EngineFixture second = new EngineFixture()) {
            AtomicReference<LockManager> current = new AtomicReference<>(locks);
            SimpleLock lock = new SyncGuardLockProvider(LockManager.routing(current::get))
                    .lock(report(AT_MOST, Duration.ZERO))
                    .orElseThrow();
            current.set(second.engine);

            SimpleLock extended = lock.extend(AT_MOST, Duration.ZERO).orElseThrow();
            assertThat(second.store.fence("report")).isZero();
            extended.unlock();

            assertThat(locks.isLocked("report")).isFalse();
        }
    }

    /** A name of ShedLock may be an expression over data. */
    @Test
    void a_name_like_the_key_of_an_election_is_refused() {
        assertThatThrownBy(() -> provider.lock(
                        new LockConfiguration(ClockProvider.now(), "leader:scheduler", AT_MOST, Duration.ZERO)))
                .isInstanceOf(IllegalKeyException.class)
                .hasMessageContaining("election");
        assertThat(locks.isLocked("leader:scheduler")).isFalse();
    }

    @Test
    void the_unlock_of_a_lock_that_has_ended_does_not_fail() {
        SimpleLock lock = lock(AT_MOST, Duration.ZERO);
        fixture.time.advance(AT_MOST);

        lock.unlock();

        assertThatIllegalStateException().isThrownBy(lock::unlock);
    }

    @Test
    void any_thread_unlocks() throws Exception {
        SimpleLock lock = lock(AT_MOST, Duration.ZERO);

        EngineFixture.got(inAnotherThread(() -> {
            lock.unlock();
            return true;
        }));

        assertThat(locks.isLocked("report")).isFalse();
    }

    @Test
    void an_extension_sets_a_new_end_that_may_be_earlier() {
        SimpleLock longer = extended(lock(AT_MOST, Duration.ZERO), AT_MOST.multipliedBy(2), Duration.ZERO);
        fixture.time.advance(AT_MOST.plusMinutes(5));
        assertThat(locks.isLocked("report")).isTrue();

        extended(longer, Duration.ofSeconds(20), Duration.ZERO);
        fixture.time.advance(Duration.ofSeconds(20));

        eventually().until(() -> !locks.isLocked("report"));
    }

    @Test
    void an_extension_keeps_the_key_for_its_own_time_from_then_on() {
        SimpleLock lock = lock(AT_MOST, Duration.ofMinutes(1));
        fixture.time.advance(Duration.ofSeconds(50));

        extended(lock, AT_MOST, Duration.ofSeconds(30)).unlock();

        assertTakenFor(Duration.ofSeconds(30));
    }

    @Test
    void an_extension_does_not_shorten_the_time_for_which_the_key_is_kept() {
        SimpleLock lock = lock(AT_MOST, Duration.ofMinutes(1));
        fixture.time.advance(Duration.ofSeconds(50));

        extended(lock, AT_MOST, Duration.ZERO).unlock();

        assertTakenFor(Duration.ofSeconds(10));
    }

    @Test
    void a_lock_that_could_not_be_extended_is_held_as_before() {
        SimpleLock lock = lock(AT_MOST, Duration.ZERO);
        fixture.backend.beforeExtend = SyncGuardLockProviderTests::fail;

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> lock.extend(AT_MOST, Duration.ZERO))
                .withMessageContaining("report");

        assertThat(locks.isLocked("report")).isTrue();
        lock.unlock();
        assertThat(locks.isLocked("report")).isFalse();
    }

    @Test
    void an_extension_for_less_than_the_key_is_to_be_kept_is_refused_by_shedlock() {
        SimpleLock lock = lock(AT_MOST, Duration.ZERO);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> lock.extend(Duration.ofSeconds(1), Duration.ofSeconds(2)));
    }

    @Test
    void a_job_extends_its_lock() {
        LockingTaskExecutor jobs = new DefaultLockingTaskExecutor(provider);

        jobs.executeWithLock(
                (Runnable) () -> {
                    fixture.time.advance(AT_MOST.minusSeconds(1));
                    LockExtender.extendActiveLock(AT_MOST, Duration.ZERO);
                    fixture.time.advance(AT_MOST.minusSeconds(1));
                    assertThat(locks.isLocked("report")).isTrue();
                },
                report(AT_MOST, Duration.ZERO));

        assertThat(locks.isLocked("report")).isFalse();
    }

    @Test
    void an_unavailable_server_is_an_error_and_not_contention() {
        fixture.backend.beforeAcquire = SyncGuardLockProviderTests::fail;

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> provider.lock(report(AT_MOST, Duration.ZERO)));
    }

    @Test
    void a_lock_that_was_over_before_the_answer_arrived_is_an_error() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofMillis(2));

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> provider.lock(report(Duration.ofMillis(2), Duration.ZERO)))
                .withMessageContaining("ttl of 2ms");
    }

    @Test
    void fractions_of_a_millisecond_are_rounded_up() {
        SimpleLock lock = lock(Duration.ofNanos(2_000_001), Duration.ofNanos(1));
        assertThat(locks.admin().lookup("report"))
                .hasValueSatisfying(info ->
                        assertThat(info.expiresAt()).isEqualTo(info.acquiredAt().plusMillis(3)));

        lock.unlock();

        assertTakenFor(Duration.ofMillis(1));
    }

    @Test
    void the_name_is_the_key() {
        LockTemplate template = new LockTemplate(locks);
        SimpleLock lock = lock(AT_MOST, Duration.ZERO);

        assertThat(template.tryExecuteWithoutResult(LockRequest.of("report"), held -> {}))
                .isFalse();
        lock.unlock();
        assertThat(template.tryExecuteWithoutResult(LockRequest.of("report"), held -> {}))
                .isTrue();
    }

    @Test
    void the_name_is_also_that_of_the_meters() {
        List<String> names = new ArrayList<>();
        LockListener listener = new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                names.add(event.name());
            }
        };
        try (EngineFixture metered = new EngineFixture(LockObserver.NONE, listener)) {
            new SyncGuardLockProvider(metered.engine).lock(report(AT_MOST, Duration.ZERO));
        }

        assertThat(names).containsExactly("report");
    }

    @Test
    void a_nested_lock_of_a_body_joins_and_frees_nothing() {
        new LockTemplate(locks).executeWithoutResult(LockRequest.of("report"), outer -> {
            lock(AT_MOST, Duration.ofMinutes(1)).unlock();

            assertThat(outer.isHeld()).isTrue();
            assertThat(locks.isLocked("report")).isTrue();
        });

        assertTakenFor(Duration.ofMinutes(1));
    }

    @Test
    void the_keep_alive_provider_of_shedlock_extends_it() {
        try (ManualScheduler scheduler = new ManualScheduler()) {
            LockProvider keepAlive = new KeepAliveLockProvider(provider, scheduler);
            SimpleLock lock = keepAlive
                    .lock(report(Duration.ofSeconds(30), Duration.ofSeconds(20)))
                    .orElseThrow();
            fixture.time.advance(Duration.ofSeconds(15));
            scheduler.task.run();
            fixture.time.advance(Duration.ofSeconds(29));

            assertThat(locks.isLocked("report")).isTrue();
            lock.unlock();
            assertThat(locks.isLocked("report")).isFalse();
        }
    }

    private void assertTakenFor(Duration time) {
        fixture.time.advance(time.minusMillis(1));
        assertThat(locks.isLocked("report")).isTrue();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(locks.isLocked("report")).isFalse();
    }

    private SimpleLock lock(Duration atMost, Duration atLeast) {
        return provider.lock(report(atMost, atLeast)).orElseThrow();
    }

    private static SimpleLock extended(SimpleLock lock, Duration atMost, Duration atLeast) {
        Optional<SimpleLock> extended = lock.extend(atMost, atLeast);
        assertThatIllegalStateException().isThrownBy(lock::unlock);
        return extended.orElseThrow();
    }

    private static LockConfiguration report(Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), "report", atMost, atLeast);
    }

    private static void fail() {
        throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "unplugged", null);
    }

    /** Runs its task when the test does. */
    private static final class ManualScheduler extends ScheduledThreadPoolExecutor implements AutoCloseable {

        private Runnable task;

        ManualScheduler() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long delay, long period, TimeUnit unit) {
            task = command;
            return schedule(() -> {}, 1, TimeUnit.DAYS);
        }

        @Override
        public void close() {
            shutdownNow();
        }
    }
}
