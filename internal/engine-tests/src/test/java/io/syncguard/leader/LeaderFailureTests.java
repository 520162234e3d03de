package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An unavailable server ends no campaign and fills no log, and there are pauses between the attempts. */
class LeaderFailureTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    @Test
    void a_member_that_joins_while_the_server_is_away_leads_when_it_is_back() {
        try (CapturedLog log = new CapturedLog()) {
            fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
            LeaderMember member = fixture.election.join(NAME, STEADY);
            fixture.advance(Duration.ofMinutes(1));
            int asked = fixture.process.backend.acquires.get();

            fixture.process.backend.beforeAcquire = () -> {};
            fixture.advance(Duration.ofSeconds(9));

            eventually().until(member::isLeader);
            // 1 + 6 with pauses of up to 8 s at most, then one every 4 to 8.5 s.
            assertThat(asked).isBetween(8, 25);
            assertThat(log.messages())
                    .as("logged once")
                    .singleElement()
                    .asString()
                    .contains("The campaign for 'scheduler' failed", "tried again");
        }
    }

    @Test
    void the_next_outage_is_logged_again() {
        try (CapturedLog log = new CapturedLog()) {
            for (int outage = 1; outage <= 2; outage++) {
                fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
                LeaderMember member = fixture.election.join(NAME, STEADY);
                int logged = outage;
                eventually().until(() -> log.messages().size() == logged);
                fixture.process.backend.beforeAcquire = () -> {};
                fixture.advance(Duration.ofSeconds(2));
                eventually().until(member::isLeader);
                member.leave();
                eventually()
                        .until(() ->
                                fixture.events.get(fixture.events.size() - 1).endsWith("LEFT"));
            }
        }
    }

    @Test
    void who_waits_for_others_again_after_an_outage_has_a_queue_entry() {
        fixture.electedElsewhere();
        fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.election.join(NAME, STEADY);
        fixture.advance(Duration.ofSeconds(2));

        fixture.process.backend.beforeAcquire = () -> {};
        fixture.advance(Duration.ofSeconds(3));

        eventually().until(() -> fixture.process.store.queue(LeaderFixture.KEY).size() == 1);
    }

    /** The members leave right after that. */
    @Test
    void a_campaign_that_is_aborted_when_the_application_begins_to_stop_goes_on_and_is_not_logged() {
        fixture.electedElsewhere();
        fixture.election.join(NAME, STEADY);
        eventually().until(() -> fixture.process.store.queue(LeaderFixture.KEY).size() == 1);
        int asked = fixture.process.backend.acquires.get();
        try (CapturedLog log = new CapturedLog()) {
            fixture.process.engine.abortWaiters(Thread.currentThread());
            fixture.advance(Duration.ofSeconds(3));

            eventually().until(() -> fixture.process.backend.acquires.get() > asked);
            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    void who_leaves_while_the_server_is_away_does_not_wait_for_it() {
        fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        LeaderMember member = fixture.election.join(NAME, STEADY);
        eventually().until(() -> fixture.process.backend.acquires.get() == 1);

        member.leave();
        member.campaign().awaitEnd(LeaderFixture.SHUTDOWN_TIMEOUT);

        assertThat(fixture.process.time.nanoTime()).isZero();
    }

    @Test
    void an_unexpected_failure_ends_no_campaign() {
        fixture.process.backend.beforeAcquire = () -> {
            throw new StackOverflowError("as the test wants it");
        };
        LeaderMember member = fixture.election.join(NAME, STEADY);
        eventually().until(() -> fixture.process.backend.acquires.get() == 1);

        fixture.process.backend.beforeAcquire = () -> {};
        fixture.advance(Duration.ofSeconds(1));

        eventually().until(member::isLeader);
    }

    @Test
    void work_of_a_leader_that_lost_its_lock_fails_with_the_reason() {
        TermBody body = Objects.requireNonNull(fixture.elected().beginBody());

        fixture.process.engine.admin().forceRelease(LeaderFixture.KEY, "a test");

        LockLostException lost = catchThrowableOfType(LockLostException.class, body::close);
        assertThat(lost.reason()).isEqualTo(LockReason.RELEASED_BY_FORCE);
        assertThat(lost)
                .hasMessageStartingWith("Leadership 'scheduler' ended before its work did. Lock 'leader:scheduler' was"
                        + " lost while it was in use: it was released by force. ");
    }

    @Test
    void work_of_a_leader_that_resigned_fails_with_that_reason() {
        LeaderMember member = fixture.elected();
        TermBody body = Objects.requireNonNull(member.beginBody());

        member.resign();

        assertThat(catchThrowableOfType(LockLostException.class, () -> body.end(new CancellationException()))
                        .reason())
                .isEqualTo(LockReason.RELEASED);
    }
}
