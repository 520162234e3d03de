package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A lease alone: no engine, no store. */
class LeaseTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Instant END = Instant.ofEpochSecond(60);

    private final ManualTime time = new ManualTime();
    private final List<LockReason> losses = new ArrayList<>();
    private final Lease lease = new Lease(
            time,
            new GrantedLease(
                    LockRequest.of("order:42"),
                    "A".repeat(22),
                    new Fence(7),
                    Confirmation.of(0, TTL, Instant.EPOCH),
                    Duration.ZERO),
            HeldObservation.NONE,
            (lost, reason, explanation) -> losses.add(reason));

    @Test
    void is_held_until_one_ttl_after_the_request_was_sent() {
        time.advance(TTL.minusNanos(1));
        assertThat(lease.isHeld()).isTrue();

        time.advance(Duration.ofNanos(1));

        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.phase()).isEqualTo(Lease.Phase.LOST);
        assertThat(losses).containsExactly(LockReason.EXPIRED);
    }

    @Test
    void the_deadline_counts_from_the_sending_of_an_extension_and_not_from_its_answer() {
        time.advance(Duration.ofSeconds(10));
        try (LeaseExtension extension = lease.extend()) {
            extension.request(TTL, ExtendRequest.Kind.HOLDER);
            time.advance(Duration.ofSeconds(5));
            assertThat(extension.answered(new ExtendResult.Extended(END))).isTrue();
        }

        assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(25));
        assertThat(lease.confirmed().expiresAt()).isEqualTo(END);
    }

    /** An earlier request of the acquisition may reach the server after an extension, and set the lease to its ttl. */
    @Test
    void an_extension_of_a_lease_whose_acquisition_is_in_doubt_counts_for_the_ttl_of_that_at_most() {
        Lease inDoubt = new Lease(
                time,
                new GrantedLease(
                        LockRequest.of("order:42"),
                        "A".repeat(22),
                        new Fence(7),
                        Confirmation.of(0, TTL, Instant.EPOCH),
                        Duration.ZERO,
                        Duration.ofSeconds(5).toNanos(),
                        AcquireObservation.NONE),
                HeldObservation.NONE,
                (lost, reason, explanation) -> losses.add(reason));

        try (LeaseExtension extension = inDoubt.extend()) {
            extension.request(TTL.multipliedBy(10), ExtendRequest.Kind.HOLDER);
            assertThat(extension.answered(new ExtendResult.Extended(END))).isTrue();
        }

        assertThat(inDoubt.remaining()).isEqualTo(TTL);
    }

    @Test
    void an_answer_after_the_deadline_does_not_bring_it_back() {
        try (LeaseExtension extension = lease.extend()) {
            extension.request(TTL, ExtendRequest.Kind.HOLDER);
            time.advance(TTL);
            assertThat(extension.answered(new ExtendResult.Extended(END))).isFalse();
        }

        assertThat(losses).containsExactly(LockReason.EXPIRED);
    }

    @Test
    void a_request_that_shortens_counts_when_it_is_sent() {
        try (LeaseExtension extension = lease.extend()) {
            extension.request(Duration.ofSeconds(2), ExtendRequest.Kind.HOLDER);
            assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(2));
        }
    }

    @Test
    void a_busy_row_leaves_it_as_it_was() {
        try (LeaseExtension extension = lease.extend()) {
            extension.request(Duration.ofSeconds(2), ExtendRequest.Kind.HOLDER);
            assertThat(extension.answered(new ExtendResult.Busy())).isTrue();
        }

        assertThat(lease.remaining()).isEqualTo(TTL);
        assertThat(lease.confirmed().ttl()).isEqualTo(TTL);
    }

    @Test
    void after_an_extension_in_doubt_no_confirmation_counts_for_longer() {
        try (LeaseExtension extension = lease.extend()) {
            extension.request(Duration.ofSeconds(4), ExtendRequest.Kind.HOLDER);
            extension.failed(new LockBackendException(LockErrorCode.NETWORK_TIMEOUT, "no answer", null));
        }
        try (LeaseExtension extension = lease.extend()) {
            extension.request(TTL, ExtendRequest.Kind.HOLDER);
            extension.answered(new ExtendResult.Extended(END));
        }

        assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(4));
    }

    @Test
    void an_extension_waits_for_the_one_that_is_under_way() throws Exception {
        LeaseExtension first = lease.extend();

        assertThat(lease.tryExtend()).isNull();
        var second = EngineFixture.inAnotherThread(lease::extend);
        assertThat(second.isDone()).isFalse();
        first.close();

        EngineFixture.got(second).close();
    }

    @Test
    void a_fence_never_gets_smaller() {
        try (LeaseExtension extension = lease.extend()) {
            extension.request(TTL, ExtendRequest.Kind.HOLDER);
            assertThatExceptionOfType(LockBackendException.class)
                    .isThrownBy(() -> extension.answered(new ExtendResult.Rotated(END, new Fence(7))))
                    .withMessageContaining("forgotten its counter");
        }

        assertThat(lease.fence()).isEqualTo(new Fence(7));
    }

    @Test
    void ends_once() {
        assertThat(lease.beginRelease()).isTrue();
        assertThat(lease.beginRelease()).isFalse();
        lease.lose(LockReason.NOT_FOUND, "too late");
        lease.released();
        lease.loseAtRelease(LockReason.NOT_FOUND, "too late");

        assertThat(lease.phase()).isEqualTo(Lease.Phase.RELEASED);
        assertThat(losses).isEmpty();
    }

    @Test
    void a_release_may_find_that_it_was_lost() {
        lease.beginRelease();
        lease.loseAtRelease(LockReason.NOT_FOUND, "gone");

        assertThat(lease.phase()).isEqualTo(Lease.Phase.LOST);
        assertThat(losses).containsExactly(LockReason.NOT_FOUND);
    }
}
