package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
