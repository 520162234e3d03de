package io.syncguard.core;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.concurrent.ModelTime;
import io.syncguard.concurrent.Time;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.AcquireResult;
import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Wake-ups, hand-overs, polls and interrupts meet a waiter at each point of its way into its sleep and out of it. */
@Tag("verification")
public class WaiterInterleavingTests {

    private static final int RUNS = 60;

    @Test
    void every_reason_ends_the_sleep_once() {
        assertThat(Interleavings.explore(
                        RUNS,
                        List.of(
                                WakeUp.class,
                                HandOver.class,
                                LateHandOver.class,
                                MissedWakeUps.class,
                                Interrupt.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    private static final AcquireResult.Granted GRANT =
            new AcquireResult.Granted(new Fence(7), Instant.EPOCH, Instant.EPOCH);

    /** One caller who waits. What others do to it runs on other threads. */
    private static final class Caller {

        private final WaiterRegistry waiters = new WaiterRegistry(
                new InMemoryLockBackend(new InMemoryStore(() -> 0)), DefaultSettings.of("test"), new ModelTime());
        private final Waiter waiter = waiters.newWaiter(Requests.of(
                "key", LockMode.EXCLUSIVE, 0, "A".repeat(22), Duration.ofSeconds(30), "test", true, false, null));

        /** The thread of the safety poll does not take part. */
        Caller() {
            waiters.close();
        }

        long request() {
            return waiter.nextRequest().waiterNumber();
        }

        AcquireResult.Granted sleep() throws InterruptedException {
            return waiter.sleep(0, Duration.ofSeconds(9), Time.NEVER);
        }

        void leave() {
            waiter.close();
            require(waiters.size() == 0, "nobody waits any more");
        }
    }

    public static final class WakeUp implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Caller caller = new Caller();
            long number = caller.request();
            Thread other = started(() -> caller.waiters.wake(number));

            require(caller.sleep() == null, "nothing is handed over");

            other.join();
            caller.leave();
        }
    }

    public static final class HandOver implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Caller caller = new Caller();
            long number = caller.request();
            Thread other = started(() -> caller.waiters.handOver(number, GRANT));

            require(caller.sleep() == GRANT, "the grant arrives");
            caller.waiters.wake(number);
            require(caller.sleep() == null, "a grant is handed over once");

            other.join();
            caller.leave();
        }
    }

    public static final class LateHandOver implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Caller caller = new Caller();
            long first = caller.request();
            Thread other = started(() -> caller.waiters.handOver(first, GRANT));
            long second = caller.request();
            Thread another = started(() -> caller.waiters.wake(second));

            require(caller.sleep() == null, "the hand-over was for the first request");

            other.join();
            another.join();
            caller.leave();
        }
    }

    /** The caller is awake and looks again itself, or it sleeps and is polled. */
    public static final class MissedWakeUps implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Caller caller = new Caller();
            caller.request();
            Thread poll = started(() -> {
                caller.waiters.wakeUpsMissed();
                Waiter.Poll due = caller.waiter.pollIfDue(0);
                if (due != null) {
                    caller.waiter.polled(due.sleep(), 0, Duration.ZERO);
                }
            });

            require(caller.sleep() == null, "nothing is handed over");

            poll.join();
            caller.leave();
        }
    }

    public static final class Interrupt implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Caller caller = new Caller();
            long number = caller.request();
            Thread sleeper = Thread.currentThread();
            Thread other = started(() -> caller.waiters.handOver(number, GRANT));
            Thread another = started(sleeper::interrupt);
            try {
                require(caller.sleep() == GRANT, "the grant arrives, or the interrupt");
            } catch (InterruptedException ex) {
                require(!Thread.currentThread().isInterrupted(), "the interrupt is reported once");
            }
            joinAll(other, another);
            // It may have come after all that.
            Thread.interrupted();
            caller.leave();
        }

        /** The interrupt may come that late. */
        private static void joinAll(Thread... threads) throws InterruptedException {
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException ex) {
                    thread.join();
                }
            }
        }
    }
}
