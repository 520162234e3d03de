package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.KEY;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static io.syncguard.leader.LeaderFixture.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockInfo;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How a process is elected, how long it leads, and under which fence. */
class LeaderMemberTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    @Test
    void the_first_member_leads_under_the_first_fence() {
        LeaderMember member = fixture.elected();

        assertThat(member.fence()).contains(new Fence(1));
        assertThat(fixture.election.isLeader(NAME)).isTrue();
        assertThat(fixture.election.leader(NAME)).hasValueSatisfying(leader -> {
            assertThat(leader.owner()).isEqualTo("node-1");
            assertThat(leader.fence()).isEqualTo(new Fence(1));
        });
        assertThat(fixture.election.leader("another")).isEmpty();
    }

    @Test
    void a_label_of_its_own_is_shown_to_people() {
        fixture.elected(STEADY.owner("node-24"));

        assertThat(fixture.election.leader(NAME)).map(LockInfo::owner).contains("node-24");
    }

    @Test
    void renewals_keep_the_fence() {
        LeaderMember member = fixture.elected();

        fixture.advance(TTL.multipliedBy(3));

        assertThat(fixture.process.backend.extendStatements.get()).isGreaterThanOrEqualTo(8);
        assertThat(member.fence()).contains(new Fence(1));
    }

    @Test
    void the_lease_is_renewed_as_often_as_asked_for() {
        fixture.elected(STEADY.heartbeat(Duration.ofSeconds(1)));

        fixture.advance(Duration.ofSeconds(12));

        assertThat(fixture.process.backend.extendStatements.get()).isGreaterThanOrEqualTo(11);
    }

    @Test
    void the_fence_is_rotated_on_schedule_and_lookups_show_it() {
        LeaderMember member = fixture.elected(LeaderSettings.of(TTL).fenceRotation(Duration.ofSeconds(4)));
        assertThat(member.fence()).contains(new Fence(1));

        fixture.advance(Duration.ofMillis(3_500));
        assertThat(member.fence()).contains(new Fence(1));
        fixture.advance(Duration.ofSeconds(1));
        assertThat(member.fence()).contains(new Fence(2));
        fixture.advance(Duration.ofSeconds(8));

        assertThat(member.fence()).contains(new Fence(4));
        assertThat(fixture.election.leader(NAME)).map(LockInfo::fence).contains(new Fence(4));
        assertThat(fixture.process.backend.rotations).hasValue(3);
        fixture.awaitEvents("joined scheduler", "elected 1", "rotated 2", "rotated 3", "rotated 4");
    }

    @Test
    void a_rotation_that_fails_is_tried_again_and_ends_nothing() {
        LeaderMember member = fixture.elected(LeaderSettings.of(TTL).fenceRotation(Duration.ofSeconds(4)));

        fixture.process.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.advance(Duration.ofSeconds(5));
        assertThat(fixture.process.backend.rotations.get()).isPositive();
        assertThat(member.fence()).contains(new Fence(1));
        fixture.process.backend.beforeExtend = () -> {};
        fixture.advance(Duration.ofSeconds(4));

        assertThat(member.fence()).contains(new Fence(2));
        fixture.awaitEvents("joined scheduler", "elected 1", "rotated 2");
    }

    @Test
    void it_steps_down_by_its_own_clock_while_the_server_is_away_and_leads_again_under_a_larger_fence() {
        LeaderMember member = fixture.elected();

        fixture.process.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.advance(TTL);
        assertThat(member.isLeader()).isFalse();
        assertThat(member.fence()).isEmpty();
        fixture.process.backend.beforeExtend = () -> {};
        fixture.process.backend.beforeAcquire = () -> {};
        fixture.advance(Duration.ofSeconds(10));

        eventually().until(member::isLeader);
        assertThat(member.fence()).contains(new Fence(2));
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 LOST", "elected 2");
    }

    @Test
    void a_call_that_hangs_keeps_neither_the_leadership_nor_the_event_of_its_end() {
        CountDownLatch answer = new CountDownLatch(1);
        LeaderMember member = fixture.elected(LeaderSettings.of(TTL));
        fixture.process.backend.beforeExtend = () -> LeaderFixture.hangUntil(answer);

        fixture.advance(TTL);

        assertThat(member.isLeader()).isFalse();
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 LOST");
        answer.countDown();
    }

    @Test
    void nobody_leads_beside_a_leader_that_is_silent_until_its_lease_and_the_tolerance_are_over() {
        fixture.electedElsewhere();
        LeaderMember member = fixture.queued();

        fixture.advance(TTL.plusMillis(500));
        assertThat(member.isLeader()).isFalse();
        fixture.advance(Duration.ofSeconds(1));

        eventually().until(member::isLeader);
        assertThat(member.fence()).contains(new Fence(2));
    }

    @Test
    void a_waiting_member_is_woken_by_the_one_that_resigns() {
        AcquireRequest other = fixture.electedElsewhere();
        LeaderMember member = fixture.queued();
        int asked = fixture.process.backend.acquires.get();

        fixture.process.releaseElsewhere(other);

        eventually().until(member::isLeader);
        assertThat(fixture.process.backend.acquires.get()).isEqualTo(asked);
        assertThat(fixture.process.time.nanoTime()).isZero();
    }

    @Test
    void who_resigns_alone_is_elected_again_under_the_next_fence() {
        LeaderMember member = fixture.elected();

        member.resign();

        eventually().until(member::isLeader);
        assertThat(member.fence()).contains(new Fence(2));
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 RESIGNED", "elected 2");
    }

    @Test
    void who_does_not_lead_cannot_resign_and_keeps_its_queue_entry() {
        AcquireRequest other = fixture.electedElsewhere();
        LeaderMember member = fixture.queued();

        member.resign();
        fixture.process.settle();
        assertThat(fixture.process.store.queue(KEY)).hasSize(1);
        fixture.process.releaseElsewhere(other);

        eventually().until(member::isLeader);
    }

    @Test
    void each_term_has_another_lock_id() {
        LeaderMember member = fixture.elected();
        String first = lockId();

        member.resign();

        eventually().until(member::isLeader);
        assertThat(lockId()).isNotEqualTo(first);
    }

    @Test
    void a_pause_resigns_and_keeps_from_campaigning_until_it_is_resumed() {
        LeaderMember member = fixture.elected();

        member.pause();
        assertThat(member.isLeader()).isFalse();
        eventually().until(() -> !fixture.process.engine.isLocked(KEY));
        fixture.advance(Duration.ofSeconds(2));
        assertThat(fixture.process.engine.isLocked(KEY)).isFalse();
        member.resume();

        eventually().until(member::isLeader);
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 PAUSED", "elected 2");
    }

    @Test
    void a_pause_leaves_the_queue() {
        AcquireRequest other = fixture.electedElsewhere();
        LeaderMember member = fixture.queued();

        member.pause();

        eventually().until(() -> fixture.process.store.queue(KEY).isEmpty());
        fixture.process.releaseElsewhere(other);
        fixture.process.settle();
        assertThat(member.isLeader()).isFalse();
    }

    @Test
    void who_has_left_takes_part_no_more_until_it_joins_again() {
        LeaderMember member = fixture.elected();

        member.leave();
        assertThat(member.isLeader()).isFalse();
        assertThat(member.isJoined()).isFalse();
        eventually().until(() -> !fixture.process.engine.isLocked(KEY));
        eventually().until(() -> threads().isEmpty());
        assertThat(fixture.election.join(NAME)).isSameAs(member);

        eventually().until(member::isLeader);
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 LEFT", "joined scheduler", "elected 2");
    }

    @Test
    void members_take_part_while_the_application_runs() {
        LeaderMember member = fixture.elected();

        fixture.election.stop();
        assertThat(member.isLeader()).isFalse();
        assertThat(fixture.process.engine.isLocked(KEY)).isFalse();
        assertThat(member.isJoined()).isTrue();
        fixture.election.start();

        eventually().until(member::isLeader);
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 SHUTDOWN", "elected 2");
    }

    @Test
    void whoever_has_the_lock_id_ends_the_term_by_a_release() {
        LeaderMember member = fixture.elected();

        fixture.process.engine.release(lockId());

        assertThat(member.fence()).isNotEqualTo(Optional.of(new Fence(1)));
        fixture.advance(TTL);
        eventually().until(member::isLeader);
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 RESIGNED", "elected 2");
    }

    @Test
    void an_election_that_nobody_has_made_known_is_a_mistake() {
        fixture.elected();

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> fixture.election.isLeader("schedular"))
                .withMessageContainingAll(
                        "'schedular'", "[scheduler]", "syncguard.leader.elections.schedular.auto-startup")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void an_election_has_the_same_settings_for_all_who_join_it_here() {
        fixture.elected();

        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> fixture.election.join(NAME, LeaderSettings.defaults()))
                .withMessageContainingAll("'scheduler'", "other settings")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void an_election_is_one_however_its_name_is_spelled() {
        String composed = "caf\u00e9";
        String decomposed = "cafe\u0301";
        LeaderMember member = fixture.election.join(decomposed, STEADY);

        assertThat(fixture.election.join(composed)).isSameAs(member);
        assertThat(fixture.election.join(decomposed)).isSameAs(member);
        assertThat(fixture.election.define(composed, STEADY, fixture.process.engine))
                .isSameAs(member);
        assertThat(fixture.election.members()).containsExactly(member);
        assertThat(member.name()).isEqualTo(composed);
        eventually().until(() -> fixture.election.isLeader(composed) && fixture.election.isLeader(decomposed));
        assertThat(fixture.election.leader(decomposed)).isEqualTo(fixture.election.leader(composed));
        fixture.awaitEvents("joined " + composed, "elected 1");
    }

    private String lockId() {
        return fixture.process.engine.admin().debugLookup(KEY).get(0).lockId();
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("syncguard-leader-scheduler"))
                .toList();
    }
}
