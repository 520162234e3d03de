package io.syncguard.testing;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.Interleavings.Scenario;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two classes with the bugs for which interleavings are explored, and one without. */
@Tag("verification")
public class InterleavingsTests {

    private static final int RUNS = 300;

    @Test
    void a_lost_update_is_found() {
        assertThat(Interleavings.explore(RUNS, LostUpdate.class))
                .startsWith("fails")
                .contains("both increments count");
    }

    @Test
    void a_lost_wake_up_is_found() {
        assertThat(Interleavings.explore(RUNS, LostWakeUp.class))
                .startsWith("fails")
                .contains(Interleavings.HUNG);
    }

    @Test
    void a_correct_class_holds() {
        assertThat(Interleavings.explore(RUNS, Update.class)).startsWith("holds");
    }

    public static final class LostUpdate implements Scenario {

        private volatile int count;

        @Override
        @Operation
        public void run() throws Exception {
            Thread other = started(() -> count = count + 1);
            count = count + 1;
            other.join();

            require(count == 2, "both increments count");
        }
    }

    /** The condition is read before the lock, so the signal may come in between. */
    public static final class LostWakeUp implements Scenario {

        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private volatile boolean ready;

        @Override
        @Operation
        public void run() throws Exception {
            Thread other = started(this::signal);
            if (!ready) {
                lock.lock();
                try {
                    changed.await();
                } finally {
                    lock.unlock();
                }
            }
            other.join();
        }

        private void signal() {
            lock.lock();
            try {
                ready = true;
                changed.signal();
            } finally {
                lock.unlock();
            }
        }
    }

    public static final class Update implements Scenario {

        private final AtomicInteger count = new AtomicInteger();

        @Override
        @Operation
        public void run() throws Exception {
            Thread other = started(count::incrementAndGet);
            count.incrementAndGet();
            other.join();

            require(count.get() == 2, "both increments count");
        }
    }
}
