package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static io.syncguard.leader.LeaderFixture.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Threads are made when a member joins or gets a task, and never for an election or its end. */
class LeaderThreadsTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    private final List<String> recorded = new CopyOnWriteArrayList<>();

    @Test
    void elections_rotations_and_revocations_make_no_thread() {
        LeaderMember member = fixture.election.define(NAME, LeaderSettings.of(TTL), fixture.process.engine);
        member.runWhileLeader(term -> recorded.add("runs under " + term.fence().value()));
        fixture.electedElsewhere();
        fixture.election.join(NAME);
        fixture.awaitSleepingCampaign();

        fixture.threads.exhausted = true;
        fixture.process.store.expire(LeaderFixture.KEY);
        fixture.advance(Duration.ofSeconds(2));
        eventually().until(() -> recorded.size() == 1);
        fixture.advance(Duration.ofSeconds(6));
        member.resign();
        eventually().until(() -> recorded.size() == 2);
        fixture.process.store.expire(LeaderFixture.KEY);
        fixture.advance(Duration.ofSeconds(6));

        eventually().until(() -> recorded.size() == 3);
        assertThat(recorded).containsExactly("runs under 2", "runs under 4", "runs under 5");
        fixture.awaitEvents(
                "joined scheduler",
                "elected 2",
                "rotated 3",
                "revoked 3 RESIGNED",
                "elected 4",
                "revoked 4 LOST",
                "elected 5");
    }

    @Test
    void without_the_thread_of_events_a_member_has_not_joined() {
        fixture.threads.exhausted = true;

        assertThatThrownBy(() -> fixture.election.join(NAME)).hasMessageContaining("unable to create native thread");

        assertThat(fixture.election.member(NAME).isJoined()).isFalse();
        fixture.threads.exhausted = false;
        fixture.election.join(NAME);
        fixture.awaitEvents("joined scheduler", "elected 1");
    }

    @Test
    void without_the_thread_of_the_campaign_a_member_has_not_joined_and_there_is_no_event() {
        LeaderMember member = fixture.elected();
        member.leave();
        member.campaign().awaitEnd(LeaderFixture.SHUTDOWN_TIMEOUT);
        fixture.threads.exhausted = true;

        assertThatThrownBy(() -> fixture.election.join(NAME)).hasMessageContaining("unable to create native thread");

        assertThat(member.isJoined()).isFalse();
        fixture.threads.exhausted = false;
        fixture.election.join(NAME);
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 LEFT", "joined scheduler", "elected 2");
    }

    @Test
    void who_cannot_start_may_start_again() {
        LeaderMember member = fixture.elected();
        fixture.election.stop();
        fixture.threads.exhausted = true;

        assertThatThrownBy(fixture.election::start).hasMessageContaining("unable to create native thread");
        assertThat(member.isJoined()).isTrue();
        fixture.threads.exhausted = false;
        fixture.election.start();

        eventually().until(member::isLeader);
    }

    @Test
    void a_task_that_gets_no_thread_is_refused_and_runs_in_no_term() {
        LeaderMember member = fixture.election.define(NAME, STEADY, fixture.process.engine);
        fixture.threads.exhausted = true;

        assertThatThrownBy(() -> member.runWhileLeader(term -> recorded.add("runs")))
                .hasMessageContaining("unable to create native thread");
        fixture.threads.exhausted = false;
        member.runWhileLeader(term -> recorded.add("runs as well"));
        fixture.election.join(NAME);

        eventually().until(() -> !recorded.isEmpty());
        assertThat(recorded).containsExactly("runs as well");
    }

    @Test
    void the_thread_of_a_task_ends_with_its_registration() {
        LeaderMember member = fixture.election.define(NAME, STEADY, fixture.process.engine);

        LeaderRegistration task = member.runWhileLeader(
                term -> recorded.add(Thread.currentThread().getName()));
        assertThat(threads("syncguard-leader-scheduler-task")).isEqualTo(1);
        task.close();

        eventually().until(() -> threads("syncguard-leader-scheduler-task") == 0);
    }

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }
}
