package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.Interleavings;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several threads use one lease at once: some order of their calls on a lease without threads explains all results. */
@Tag("verification")
public class LeaseLinearizabilityTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Instant END = Instant.ofEpochSecond(60);

    private static final String EXPLAINED = "explained";

    /** Runs in a separate process: Lincheck transforms classes that a JVM has loaded. */
    @Test
    void every_interleaving_has_an_order_that_explains_it() {
        try (ChildJvm child = ChildJvm.start(LeaseLinearizabilityTests.class)) {
            assertThat(child.ask(String.valueOf(Interleavings.LENGTH), Interleavings.PATIENCE_SECONDS))
                    .isEqualTo(EXPLAINED);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ChildJvm.serve(question -> check(Integer.parseInt(question)));
    }

    private static String check(int length) {
        try {
            new ModelCheckingOptions()
                    .iterations(20 * length)
                    .invocationsPerIteration(50 * length)
                    .threads(3)
                    .actorsPerThread(2)
                    .actorsBefore(1)
                    .actorsAfter(2)
                    .sequentialSpecification(LeaseOfOneThread.class)
                    .check(Operations.class);
            return EXPLAINED;
        } catch (Throwable ex) {
            return ex.toString().replace('\n', '/');
        }
    }

    /** What the results have to look like. */
    public static class LeaseOfOneThread {

        private Lease.Phase phase = Lease.Phase.HELD;
        private long fence = 7;

        public boolean extend() {
            return phase == Lease.Phase.HELD;
        }

        public boolean extendInVain() {
            lose();
            return false;
        }

        public long rotate() {
            fence += phase == Lease.Phase.HELD ? 1 : 0;
            return fence;
        }

        public boolean heartbeat() {
            return true;
        }

        public boolean join() {
            return phase == Lease.Phase.HELD;
        }

        public boolean beginRelease() {
            return move(Lease.Phase.HELD, Lease.Phase.RELEASING);
        }

        public void released() {
            move(Lease.Phase.RELEASING, Lease.Phase.RELEASED);
        }

        public void loseAtRelease() {
            move(Lease.Phase.RELEASING, Lease.Phase.LOST);
        }

        public void lose() {
            move(Lease.Phase.HELD, Lease.Phase.LOST);
        }

        public Lease.Phase phase() {
            return phase;
        }

        public long fence() {
            return fence;
        }

        private boolean move(Lease.Phase from, Lease.Phase to) {
            boolean moves = phase == from;
            phase = moves ? to : phase;
            return moves;
        }
    }

    /** Public and with a public constructor: Lincheck creates one for each run. */
    public static class Operations {

        private final AtomicInteger losses = new AtomicInteger();

        private final Lease lease = new Lease(
                new ManualTime(),
                new GrantedLease(
                        LockRequest.of("order:42"),
                        "A".repeat(22),
                        new Fence(7),
                        Confirmation.of(0, TTL, Instant.EPOCH),
                        Duration.ZERO),
                HeldObservation.NONE,
                (lost, reason, explanation) -> losses.incrementAndGet());

        @Operation
        public boolean extend() {
            return answer(new ExtendResult.Extended(END));
        }

        @Operation
        public boolean extendInVain() {
            return answer(new ExtendResult.NotFound());
        }

        @Operation
        public long rotate() {
            try (LeaseExtension extension = lease.extend()) {
                Fence next = new Fence(lease.fence().value() + 1);
                extension.request(TTL, ExtendRequest.Kind.HOLDER);
                extension.answered(new ExtendResult.Rotated(END, next));
                return lease.fence().value();
            }
        }

        @Operation
        public boolean heartbeat() {
            LeaseExtension extension = lease.tryExtend();
            if (extension == null) {
                lease.schedule().postpone(0);
                return true;
            }
            extension.close();
            return true;
        }

        @Operation
        public boolean join() {
            boolean held = lease.isHeld();
            lease.schedule().switchOn(LockRequest.of("order:42"));
            return held;
        }

        @Operation
        public boolean beginRelease() {
            return lease.beginRelease();
        }

        @Operation
        public void released() {
            lease.released();
        }

        @Operation
        public void loseAtRelease() {
            lease.loseAtRelease(LockReason.NOT_FOUND, "gone");
        }

        @Operation
        public void lose() {
            lease.lose(LockReason.NOT_FOUND, "gone");
        }

        @Operation
        public Lease.Phase phase() {
            return lease.phase();
        }

        @Operation
        public long fence() {
            return lease.fence().value();
        }

        @Validate
        public void the_hook_was_called_once_if_it_was_lost() {
            int expected = lease.phase() == Lease.Phase.LOST ? 1 : 0;
            if (losses.get() != expected) {
                throw new AssertionError(losses + " calls of the hook, and " + lease);
            }
        }

        private boolean answer(ExtendResult result) {
            try (LeaseExtension extension = lease.extend()) {
                extension.request(TTL, ExtendRequest.Kind.HOLDER);
                return extension.answered(result);
            }
        }
    }
}
