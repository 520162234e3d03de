package io.syncguard.core;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.ModelTime;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import io.syncguard.testing.LongInterleavings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The engine with all its threads on the in-memory backend: callers, interrupts, losses and the shutdown meet. */
@LongInterleavings
@Tag("verification")
public class EngineInterleavingTests {

    private static final int RUNS = 5;

    @Test
    void one_caller_at_a_time_holds_the_key_and_nothing_is_left_behind() {
        assertThat(Interleavings.explore(RUNS, List.of(Callers.class, Interrupt.class, Shutdown.class, Loss.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    /** An engine, and who holds its key. */
    private static final class Locks {

        private static final LockRequest REQUEST = LockRequest.of("key").waitTime(Duration.ofHours(1));

        private final InMemoryStore store = new InMemoryStore(() -> 0);
        private final LockEngine engine = new LockEngine(
                new InMemoryLockBackend(store),
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.<LockListener>of(),
                LockObserver.NONE,
                new ModelTime());
        private final AtomicInteger holders = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private final AtomicInteger held = new AtomicInteger();
        private final AtomicLong lastFence = new AtomicLong();

        /** Holds the key once, unless that is refused. */
        void hold() {
            try (LockHandle handle = engine.acquire(REQUEST)) {
                long fence = handle.fence().value();
                if (holders.incrementAndGet() > 1 || lastFence.getAndSet(fence) >= fence) {
                    overlaps.incrementAndGet();
                }
                held.incrementAndGet();
                holders.decrementAndGet();
            } catch (LockException refused) {
                // Interrupted, or the engine stops, or the lock was lost.
            }
        }

        void requireNoTraces() {
            require(overlaps.get() == 0, "one caller at a time holds the key, under growing fences");
            require(store.queue("key").isEmpty(), "no queue entry is left");
            require(!engine.isLocked("key"), "the key is free");
        }
    }

    public static final class Callers implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Locks locks = new Locks();
            Thread first = started(locks::hold);
            Thread second = started(locks::hold);
            locks.hold();
            first.join();
            second.join();

            require(locks.held.get() == 3, "each caller has held the key");
            locks.requireNoTraces();
            locks.engine.close();
        }
    }

    public static final class Interrupt implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Locks locks = new Locks();
            Thread other = started(locks::hold);
            Thread interrupted = started(locks::hold);
            interrupted.interrupt();
            other.join();
            interrupted.join();
            locks.hold();

            require(locks.held.get() >= 2, "the others have held the key");
            locks.engine.close();
            locks.requireNoTraces();
        }
    }

    public static final class Shutdown implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Locks locks = new Locks();
            LockHandle held = locks.engine.acquire(Locks.REQUEST);
            Thread waiter = started(locks::hold);
            Thread stops = started(locks.engine::close);
            waiter.join();
            held.release();
            stops.join();

            require(locks.held.get() == 0, "the caller who waited was refused");
            locks.requireNoTraces();
        }
    }

    public static final class Loss implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Locks locks = new Locks();
            Thread holder = started(locks::hold);
            Thread waiter = started(locks::hold);
            locks.engine.admin().forceRelease("key", "test");
            holder.join();
            waiter.join();

            require(locks.held.get() == 2, "each caller has held the key");
            locks.engine.close();
            require(locks.store.queue("key").isEmpty(), "no queue entry is left");
        }
    }
}
