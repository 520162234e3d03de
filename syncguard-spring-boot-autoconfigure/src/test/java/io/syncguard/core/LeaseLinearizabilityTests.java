package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.kotlinx.lincheck.annotations.Operation;
import org.jetbrains.kotlinx.lincheck.annotations.Validate;
import org.jetbrains.kotlinx.lincheck.strategy.stress.StressOptions;
import org.junit.jupiter.api.Test;

/** Several threads use one lease at once: some order of their calls explains all results. */
public class LeaseLinearizabilityTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Instant END = Instant.ofEpochSecond(60);

    private static final String EXPLAINED = "explained";

    /** Runs in a separate process: Lincheck transforms all classes that a JVM has loaded, and fails for some. */
    @Test
    void every_interleaving_has_an_order_that_explains_it() {
        try (ChildJvm child = ChildJvm.start(LeaseLinearizabilityTests.class)) {
            assertThat(child.ask("check")).isEqualTo(EXPLAINED);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ChildJvm.serve(question -> check());
    }

    private static String check() {
        try {
            LinChecker.check(
                    Operations.class,
                    new StressOptions()
                            .iterations(20)
                            .invocationsPerIteration(1000)
                            .threads(3)
                            .actorsPerThread(3)
                            .actorsBefore(1)
                            .actorsAfter(2));
            return EXPLAINED;
        } catch (Throwable ex) {
            return ex.toString().replace('\n', '/');
        }
    }

    /** Public and with a public constructor: Lincheck creates one for each run. */
    public static class Operations {

        private final AtomicInteger losses = new AtomicInteger();

        /**
         * Created by the first operation, after Lincheck has traversed the fields: it fails for records, such as
         * requests.
         */
        private Lease lease;

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
            try (LeaseExtension extension = lease().extend()) {
                Fence next = new Fence(lease().fence().value() + 1);
                extension.request(TTL);
                extension.answered(new ExtendResult.Rotated(END, next));
                return lease().fence().value();
            }
        }

        @Operation
        public boolean heartbeat() {
            LeaseExtension extension = lease().tryExtend();
            if (extension == null) {
                lease().schedule().postpone(0);
                return true;
            }
            extension.close();
            return true;
        }

        @Operation
        public boolean join() {
            boolean held = lease().isHeld();
            lease().schedule().switchOn(LockRequest.of("order:42"));
            return held;
        }

        @Operation
        public boolean beginRelease() {
            return lease().beginRelease();
        }

        @Operation
        public void released() {
            lease().released();
        }

        @Operation
        public void loseAtRelease() {
            lease().loseAtRelease(LockReason.NOT_FOUND, "gone");
        }

        @Operation
        public void lose() {
            lease().lose(LockReason.NOT_FOUND, "gone");
        }

        @Operation
        public Lease.Phase phase() {
            return lease().phase();
        }

        @Operation
        public long fence() {
            return lease().fence().value();
        }

        @Validate
        public void the_hook_was_called_once_if_it_was_lost() {
            int expected = lease().phase() == Lease.Phase.LOST ? 1 : 0;
            if (losses.get() != expected) {
                throw new AssertionError(losses + " calls of the hook, and " + lease());
            }
        }

        private boolean answer(ExtendResult result) {
            try (LeaseExtension extension = lease().extend()) {
                extension.request(TTL);
                return extension.answered(result);
            }
        }

        private synchronized Lease lease() {
            if (lease == null) {
                lease = new Lease(
                        new ManualTime(),
                        new GrantedLease(
                                LockRequest.of("order:42"),
                                "A".repeat(22),
                                new Fence(7),
                                Confirmation.of(0, TTL, Instant.EPOCH),
                                Duration.ZERO),
                        HeldObservation.NONE,
                        (lost, reason, explanation) -> losses.incrementAndGet());
            }
            return lease;
        }
    }
}
