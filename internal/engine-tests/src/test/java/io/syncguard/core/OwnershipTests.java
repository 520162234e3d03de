package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.BugOf;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A lock belongs to whoever has its handle, not to a thread, and locks of different keys are independent. */
class OwnershipTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    /**
     * Redisson's owner is the id of a thread: a thread that gets the lock from another one, as in a pool, is not its
     * holder.
     */
    @ParameterizedTest
    @MethodSource("kindsOfThreads")
    void a_handle_goes_from_thread_to_thread_and_works_on_each(ThreadFactory threads) throws Exception {
        LockHandle lock = call(threads, () -> locks.acquire(REQUEST));

        assertThat(call(threads, lock::isHeld)).isTrue();
        assertThat(call(threads, () -> lock.extend(Duration.ofMinutes(1)))).isTrue();
        assertThat(call(threads, lock.bind(() -> new LockTemplate(locks).execute(REQUEST, LockHandle::fence))))
                .isEqualTo(lock.fence());
        assertThat(call(threads, lock::release)).isTrue();
        assertThat(call(threads, () -> locks.tryAcquire(REQUEST))).isNotNull();
    }

    /** Essentials admitted every thread of the holding process. */
    @ParameterizedTest
    @MethodSource("kindsOfThreads")
    void of_many_threads_of_a_process_one_works_at_a_time(ThreadFactory threads) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            start(
                    threads,
                    () -> new LockTemplate(locks).execute(REQUEST.waitTime(Duration.ofHours(1)), lock -> {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        fixture.time.sleep(Duration.ofMillis(10).toNanos());
                        inside.decrementAndGet();
                        done.countDown();
                        return lock;
                    }));
        }

        eventually().until(() -> fixture.backend.acquires.get() >= 20 || inside.get() > 1);
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(10));
            return done.getCount() == 0;
        });
        assertThat(most).hasValue(1);
    }

    /** Spring Integration cached local locks, and evicted some that were held. */
    @BugOf("Spring Integration: local locks are evicted while they are held")
    @Test
    void a_lock_is_not_forgotten_however_many_others_come_and_go() {
        LockHandle lock = locks.acquire(REQUEST);

        for (int i = 0; i < 2_000; i++) {
            locks.acquire(LockRequest.of("k" + i)).release();
        }

        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));
        assertThat(lock.isHeld()).isTrue();
        assertThat(locks.tryAcquire(REQUEST)).isNull();
        assertThat(lock.release()).isTrue();
    }

    /** In Spring Integration several keys shared one local lock, and a request that hung on one key blocked others. */
    @BugOf("Spring Integration: unrelated keys block each other")
    @Test
    void calls_that_hang_on_one_key_hold_up_no_other() throws Exception {
        CountDownLatch hanging = new CountDownLatch(3);
        CountDownLatch goOn = new CountDownLatch(1);
        LockHandle released = locks.acquire(REQUEST);
        LockHandle extended = locks.acquire(LockRequest.of("order:43"));
        Runnable hang = () -> {
            if (Thread.currentThread().getName().equals("another")) {
                hanging.countDown();
                HeartbeatTests.awaitQuietly(goOn);
            }
        };
        fixture.backend.beforeAcquire = hang;
        fixture.backend.beforeExtend = hang;
        fixture.backend.beforeRelease = hang;
        inAnotherThread(() -> locks.acquire(LockRequest.of("order:44")));
        inAnotherThread(() -> extended.extend(EngineFixture.TTL));
        inAnotherThread(released::release);
        assertThat(hanging.await(10, TimeUnit.SECONDS)).isTrue();

        FutureTask<Boolean> unrelated = new FutureTask<>(() -> {
            LockHandle lock = locks.acquire(LockRequest.of("order:45"));
            return lock.extend(EngineFixture.TTL) && lock.release();
        });
        new Thread(unrelated, "unrelated").start();
        assertThat(unrelated.get(5, TimeUnit.SECONDS)).isTrue();
        fixture.time.advance(Duration.ofSeconds(10));
        LockHandle beating = locks.acquire(LockRequest.of("order:46"));
        fixture.advanceSlowly(Duration.ofSeconds(15), Duration.ofSeconds(1));
        assertThat(beating.remaining()).as("heartbeats go on meanwhile").isGreaterThan(Duration.ofSeconds(15));
        goOn.countDown();
    }

    /** Platform threads, and virtual ones where the JDK has them. */
    static Stream<ThreadFactory> kindsOfThreads() throws ReflectiveOperationException {
        ThreadFactory platform = Thread::new;
        if (Runtime.version().feature() < 21) {
            return Stream.of(platform);
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return Stream.of(platform, (ThreadFactory)
                Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder));
    }

    private static <T> T call(ThreadFactory threads, Callable<T> work) throws Exception {
        return start(threads, work).get(10, TimeUnit.SECONDS);
    }

    private static <T> FutureTask<T> start(ThreadFactory threads, Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        threads.newThread(task).start();
        return task;
    }
}
