package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.KEY;
import static io.syncguard.leader.LeaderFixture.SHUTDOWN_TIMEOUT;
import static io.syncguard.leader.LeaderFixture.hangUntil;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How one process hands the leadership over to another: at once, and not before all its work as the leader has ended.
 */
class LeaderHandOverTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch running = new CountDownLatch(1);

    /** The ways to give up the leadership. */
    private enum Way {
        RESIGN(LeaderMember::resign),
        PAUSE(LeaderMember::pause),
        LEAVE(LeaderMember::leave);

        private final Consumer<LeaderMember> how;

        Way(Consumer<LeaderMember> how) {
            this.how = how;
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_next_one_is_woken_and_leads_under_the_next_fence(Way way) {
        LeaderMember member = fixture.elected();
        LeaderMember next = fixture.queued(fixture.another("node-2"));

        way.how.accept(member);
        assertThat(member.isLeader()).isFalse();

        eventually().until(next::isLeader);
        assertThat(next.fence()).contains(new Fence(2));
        assertThat(fixture.process.time.nanoTime()).as("the passed time").isZero();
    }

    @Test
    void who_resigned_waits_behind_all_others_and_leads_after_them() {
        LeaderMember member = fixture.elected();
        LeaderMember second = fixture.queued(fixture.another("node-2"));
        LeaderMember third = fixture.queued(fixture.another("node-3"));

        member.resign();
        eventually()
                .until(() ->
                        second.isLeader() && fixture.process.store.queue(KEY).size() == 2);
        second.leave();
        eventually().until(third::isLeader);
        third.leave();

        eventually().until(member::isLeader);
        assertThat(member.fence()).contains(new Fence(4));
    }

    @Test
    void nobody_leads_while_a_body_of_the_last_term_is_still_running() {
        LeaderMember member = fixture.elected();
        runUntilEnd(member);
        LeaderMember next = fixture.queued(fixture.another("node-2"));

        member.resign();
        assertThat(member.isLeader()).isFalse();
        fixture.advance(SHUTDOWN_TIMEOUT.minusSeconds(1));
        assertThat(next.isLeader()).isFalse();
        assertThat(member.isLeader()).isFalse();
        end.countDown();

        eventually().until(next::isLeader);
    }

    @Test
    void a_body_that_does_not_end_in_time_is_waited_for_no_longer() {
        try (CapturedLog log = new CapturedLog()) {
            LeaderMember member = fixture.elected();
            runUntilEnd(member);
            LeaderMember next = fixture.queued(fixture.another("node-2"));

            member.resign();
            fixture.advance(SHUTDOWN_TIMEOUT.plusSeconds(1));

            eventually().until(next::isLeader);
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("'scheduler'", "is released while it is still in use", "1 running bodies", "10s");
        }
        end.countDown();
    }

    @Test
    void nobody_leads_before_the_listeners_have_received_the_end() {
        LeaderMember member = fixture.elected();
        member.addListener(new LeaderListener() {
            @Override
            public void revoked(LeaderRevokedEvent event) {
                running.countDown();
                hangUntil(end);
            }
        });
        LeaderMember next = fixture.queued(fixture.another("node-2"));

        member.leave();
        eventually().until(() -> running.getCount() == 0);
        fixture.advance(Duration.ofSeconds(2));
        assertThat(next.isLeader()).isFalse();
        end.countDown();

        eventually().until(next::isLeader);
    }

    @Test
    void an_application_that_stops_waits_for_its_bodies() throws Exception {
        LeaderMember member = fixture.elected();
        member.runWhileLeader(term -> {
            running.countDown();
            try {
                new CountDownLatch(1).await();
            } finally {
                fixture.events.add("ended, held: " + fixture.process.engine.isLocked(KEY));
            }
        });
        running.await();

        fixture.election.stop();

        assertThat(fixture.events).contains("ended, held: true");
        assertThat(fixture.process.engine.isLocked(KEY)).isFalse();
    }

    private void runUntilEnd(LeaderMember member) {
        member.runWhileLeader(term -> {
            running.countDown();
            hangUntil(end);
        });
        eventually().until(() -> running.getCount() == 0);
    }
}
