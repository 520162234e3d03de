package io.syncguard.core;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.ModelTime;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease ends at each point of an extension, and of another end. */
@Tag("verification")
public class LeaseInterleavingTests {

    private static final int RUNS = 200;

    @Test
    void a_lease_ends_once_and_keeps_its_fence_after_that() {
        assertThat(Interleavings.explore(RUNS, List.of(RotationAtRelease.class, TwoLosses.class, TwoExtensions.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    @Test
    void a_fence_that_changes_after_it_was_read_is_found() {
        assertThat(Interleavings.explore(RUNS, FenceBeforeTheRelease.class))
                .startsWith("fails")
                .contains("the fence of a lease that has ended stays");
    }

    @Test
    void an_extension_that_does_not_end_is_found() {
        assertThat(Interleavings.explore(RUNS, EndlessExtension.class))
                .startsWith("fails")
                .contains(Interleavings.HUNG);
    }

    private static Lease lease(AtomicInteger losses) {
        return new Lease(
                new ModelTime(),
                new GrantedLease(
                        LockRequest.of("key"),
                        "A".repeat(22),
                        new Fence(7),
                        Confirmation.of(0, Duration.ofSeconds(30), Instant.EPOCH),
                        Duration.ZERO),
                HeldObservation.NONE,
                (lost, reason, explanation) -> losses.incrementAndGet());
    }

    private static void extend(Lease lease, ExtendResult result) {
        try (LeaseExtension extension = lease.extend()) {
            extension.request(null, ExtendRequest.Kind.HOLDER);
            extension.answered(result);
        }
    }

    public static final class RotationAtRelease implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            rotateAtRelease(lease -> {
                lease.beginRelease();
                return lease.fence();
            });
        }
    }

    /** The fence is read while the lease may still be rotated. */
    public static final class FenceBeforeTheRelease implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            rotateAtRelease(lease -> {
                Fence fence = lease.fence();
                lease.beginRelease();
                return fence;
            });
        }
    }

    private static void rotateAtRelease(Function<Lease, Fence> release) throws InterruptedException {
        Lease lease = lease(new AtomicInteger());
        Thread other = started(() -> extend(lease, new ExtendResult.Rotated(Instant.ofEpochSecond(60), new Fence(8))));
        Fence last = release.apply(lease);
        other.join();

        require(lease.fence().equals(last), "the fence of a lease that has ended stays");
    }

    public static final class TwoLosses implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            AtomicInteger losses = new AtomicInteger();
            Lease lease = lease(losses);
            Thread other = started(() -> extend(lease, new ExtendResult.NotFound()));
            lease.lose(LockReason.SHUTDOWN, "test");
            other.join();

            require(losses.get() == 1, "a loss is reported once");
        }
    }

    public static final class TwoExtensions implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Lease lease = lease(new AtomicInteger());
            Thread other = started(() -> extend(lease, new ExtendResult.Extended(Instant.ofEpochSecond(60))));
            extend(lease, new ExtendResult.Rotated(Instant.ofEpochSecond(60), new Fence(8)));
            other.join();

            require(lease.isHeld() && lease.fence().value() == 8, "both extensions have taken effect");
        }
    }

    public static final class EndlessExtension implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            Lease lease = lease(new AtomicInteger());
            Thread other = started(lease::extend);
            other.join();
            extend(lease, new ExtendResult.Extended(Instant.ofEpochSecond(60)));
        }
    }
}
