package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static io.syncguard.leader.LeaderFixture.hangUntil;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.core.InterceptedBackend;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The first answer of the server says whether a member leads. */
@Timeout(60)
class LeaderDecisionTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    private final CountDownLatch answer = new CountDownLatch(1);

    @Test
    void a_member_that_is_elected_leads_when_the_wait_ends() throws Exception {
        LeaderMember member = asking();
        FutureTask<Boolean> leads = inAnotherThread(() -> member.awaitDecision(TIMEOUT) && member.isLeader());
        assertThat(member.isLeader()).isFalse();

        answer.countDown();

        assertThat(got(leads)).isTrue();
    }

    @Test
    void a_member_beside_another_leader_is_decided_at_the_first_answer() {
        fixture.electedElsewhere();

        LeaderMember member = fixture.election.join(NAME, STEADY);

        assertThat(member.awaitDecision(TIMEOUT)).isTrue();
        assertThat(member.isLeader()).isFalse();
    }

    @Test
    void the_wait_ends_at_the_timeout_since_the_join_however_often_one_waits() {
        LeaderMember member = asking();
        fixture.process.time.advance(TIMEOUT);

        assertThat(member.awaitDecision(TIMEOUT)).isFalse();
        assertThat(member.awaitDecision(TIMEOUT)).isFalse();
        answer.countDown();
    }

    @Test
    void a_server_that_fails_decides_nothing_until_it_answers() {
        fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        LeaderMember member = fixture.election.join(NAME, STEADY);
        eventually().until(() -> fixture.process.backend.acquires.get() > 0);
        assertThat(member.awaitDecision(Duration.ZERO)).isFalse();

        fixture.process.backend.beforeAcquire = () -> {};
        fixture.advance(Duration.ofSeconds(2));

        assertThat(member.awaitDecision(TIMEOUT)).isTrue();
        assertThat(member.isLeader()).isTrue();
    }

    @Test
    void nobody_waits_for_a_member_that_takes_no_part() {
        LeaderMember member = fixture.election.define(NAME, STEADY, fixture.process.engine);
        assertThat(member.awaitDecision(TIMEOUT)).isTrue();

        member.pause();
        member.join();

        assertThat(member.awaitDecision(TIMEOUT)).isTrue();
    }

    @Test
    void leaving_ends_the_wait_and_a_new_join_is_decided_anew() throws Exception {
        LeaderMember member = asking();
        FutureTask<Boolean> wait = inAnotherThread(() -> member.awaitDecision(TIMEOUT));
        member.leave();
        assertThat(got(wait)).isTrue();

        member.join();

        assertThat(member.awaitDecision(Duration.ZERO)).isFalse();
        answer.countDown();
        assertThat(member.awaitDecision(TIMEOUT)).isTrue();
        assertThat(member.isLeader()).isTrue();
    }

    @Test
    void the_end_of_the_application_ends_the_wait() throws Exception {
        LeaderMember member = asking();
        FutureTask<Boolean> wait = inAnotherThread(() -> member.awaitDecision(TIMEOUT));
        answer.countDown();

        fixture.election.stop();

        assertThat(got(wait)).isTrue();
        assertThat(member.isLeader()).isFalse();
    }

    @Test
    void an_interrupt_ends_the_wait_and_stays_set() {
        LeaderMember member = asking();

        Thread.currentThread().interrupt();

        assertThat(member.awaitDecision(TIMEOUT)).isFalse();
        assertThat(Thread.interrupted()).isTrue();
        answer.countDown();
    }

    /** A member whose first request is under way. */
    private LeaderMember asking() {
        CountDownLatch asks = new CountDownLatch(1);
        fixture.process.backend.beforeAcquire = () -> {
            asks.countDown();
            hangUntil(answer);
        };
        LeaderMember member = fixture.election.join(NAME, STEADY);
        hangUntil(asks);
        return member;
    }
}
