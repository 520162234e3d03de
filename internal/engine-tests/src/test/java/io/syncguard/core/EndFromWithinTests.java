package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.spi.AcquireRequest;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Work under a lock stops its own engine. The engine does not wait for that work, and still does for other holders. The
 * clock stands still.
 */
class EndFromWithinTests {

    private static final LockRequest ORDER = LockRequest.of("order:42").onLost(OnLost.NOTIFY);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @Test
    void a_body_that_stops_is_not_waited_for() {
        assertStopped(() -> template.execute(ORDER, this::stop));
    }

    @Test
    void a_nested_body_that_stops_is_not_waited_for() {
        assertStopped(() -> template.execute(
                LockRequest.of("order:41"),
                outer -> template.execute(ORDER, lock -> template.execute(ORDER, this::stop))));
    }

    @Test
    void a_body_that_waits_for_its_task_that_stops_is_not_waited_for() {
        assertStopped(() -> template.execute(ORDER, lock -> got(inAnotherThread(lock.bind(() -> stop(lock))))));
    }

    @Test
    void a_body_that_waits_for_the_thread_that_stops_is_not_waited_for() {
        assertStopped(() -> template.execute(ORDER, lock -> {
            Thread stopping = new Thread(() -> stop(lock));
            stopping.start();
            stopping.join();
            return lock;
        }));
    }

    @Test
    void a_task_that_goes_on_when_its_body_stops_is_waited_for() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicReference<FutureTask<Boolean>> task = new AtomicReference<>();
        FutureTask<Object> body = inAnotherThread(() -> template.execute(ORDER, lock -> {
            task.set(inAnotherThread(lock.bind(() -> {
                begun.countDown();
                mayEnd.await();
                return lock.isHeld();
            })));
            begun.await();
            return stop(lock);
        }));
        awaitStop();

        mayEnd.countDown();

        assertThat(got(task.get())).isTrue();
        eventually().until(body::isDone);
    }

    @Test
    void other_holders_are_waited_for() throws Exception {
        LockHandle other = locks.acquire(LockRequest.of("order:1"));
        FutureTask<Object> body = inAnotherThread(() -> template.execute(ORDER, this::stop));
        awaitStop();
        assertThat(other.isHeld()).isTrue();

        assertThat(other.release()).isTrue();

        eventually().until(body::isDone);
        assertThat(fixture.events).contains("released");
    }

    @Test
    void drains_too() {
        assertStopped(() -> template.execute(ORDER, lock -> {
            locks.drain();
            return stop(lock);
        }));
    }

    /** The thread may hang there for ever. */
    @Test
    void a_listener_that_hangs_after_a_release_is_waited_for_once() {
        CountDownLatch mayEnd = new CountDownLatch(1);
        EngineFixture process = new EngineFixture(new LockListener() {
            @Override
            public void released(LockEvent event) {
                awaitUninterrupted(mayEnd);
            }
        });
        LockHandle lock = process.engine.acquire(ORDER);
        FutureTask<Boolean> release = inAnotherThread(lock::release);
        eventually().until(() -> !process.backend.isLocked("order:42") && lock.state() == LockHandle.State.RELEASED);
        FutureTask<Void> closing = inAnotherThread(() -> {
            process.engine.stop();
            process.engine.close();
            return null;
        });
        eventually().until(() -> !process.engine.grantsLocks());
        process.settle();

        process.time.advance(DefaultSettings.of("test").shutdownTimeout());

        eventually().until(closing::isDone);
        mayEnd.countDown();
        eventually().until(release::isDone);
    }

    @ParameterizedTest
    @ValueSource(strings = {"waitStarted", "waitEnded", "refused", "failed", "acquired", "released"})
    void a_listener_that_stops_leaves_neither_a_lock_nor_a_queue_entry(String event) {
        AtomicReference<EngineFixture> process = new AtomicReference<>();
        LockListener listener = (LockListener) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {LockListener.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(event)) {
                        process.get().engine.close();
                    }
                    return method.getName().equals("hashCode") ? (Object) 1 : null;
                });
        process.set(new EngineFixture(listener));
        AcquireRequest other = process.get().holdElsewhere("order:42", EngineFixture.TTL);
        LockEngine engine = process.get().engine;

        FutureTask<?> waits = inAnotherThread(() -> {
            if (event.equals("refused")) {
                return engine.tryAcquire(ORDER);
            }
            if (event.equals("failed")) {
                Thread.currentThread().interrupt();
            }
            return engine.acquire(ORDER).release();
        });
        if (event.equals("waitEnded") || event.equals("acquired") || event.equals("released")) {
            eventually().until(() -> process.get().store.queue("order:42").size() == 1);
            process.get().releaseElsewhere(other);
        }

        eventually().until(waits::isDone);
        assertThat(process.get().backend.closed).isTrue();
        assertThat(process.get().store.queue("order:42")).isEmpty();
        assertThat(process.get().backend.lookup("order:42"))
                .allSatisfy(left -> assertThat(left.owner()).isEqualTo("elsewhere"));
    }

    @Test
    void a_listener_that_hangs_while_another_thread_stops_leaves_no_queue_entry() {
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        EngineFixture process = new EngineFixture(new LockListener() {
            @Override
            public void waitStarted(LockEvent event) {
                hangs.countDown();
                awaitUninterrupted(mayEnd);
            }
        });
        process.holdElsewhere("order:42", EngineFixture.TTL);
        FutureTask<LockHandle> waits = inAnotherThread(() -> process.engine.acquire(ORDER));
        awaitUninterrupted(hangs);
        FutureTask<Void> closing = inAnotherThread(() -> {
            process.engine.close();
            return null;
        });

        process.advanceUntil(closing::isDone);

        assertThat(process.store.queue("order:42")).isEmpty();
        mayEnd.countDown();
        eventually().until(waits::isDone);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        Awaitility.await().until(() -> latch.getCount() == 0);
    }

    private LockHandle stop(LockHandle lock) {
        locks.close();
        return lock;
    }

    private void awaitStop() {
        eventually().until(() -> !locks.grantsLocks());
        fixture.settle();
    }

    private void assertStopped(Callable<?> work) {
        FutureTask<?> body = inAnotherThread(work);

        eventually().until(body::isDone);
        assertThat(fixture.backend.closed).isTrue();
        assertThat(fixture.store.queue("order:42")).isEmpty();
        assertThat(fixture.backend.isLocked("order:42")).isFalse();
    }
}
