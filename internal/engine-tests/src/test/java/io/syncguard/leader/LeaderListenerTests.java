package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static io.syncguard.leader.LeaderFixture.TTL;
import static io.syncguard.leader.LeaderFixture.hangUntil;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What listeners receive, in which order, and what happens if one fails or blocks. */
class LeaderListenerTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    @Test
    void a_listener_of_one_member_receives_the_events_of_that_one() {
        List<String> recorded = new CopyOnWriteArrayList<>();
        fixture.elected().addListener(LeaderFixture.recordingIn(recorded));
        fixture.election.join("another");
        eventually().until(() -> fixture.election.isLeader("another"));

        fixture.election.member(NAME).leave();
        fixture.election.member("another").leave();

        eventually().until(() -> fixture.events.size() == 6);
        assertThat(recorded).containsExactly("revoked 1 LEFT");
    }

    @Test
    void a_listener_that_is_removed_receives_no_more_events() {
        List<String> recorded = new CopyOnWriteArrayList<>();
        LeaderRegistration listener = fixture.elected().addListener(LeaderFixture.recordingIn(recorded));

        listener.close();
        fixture.election.member(NAME).leave();

        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 LEFT");
        assertThat(recorded).isEmpty();
    }

    @Test
    void a_listener_that_fails_hides_nothing_from_the_others() {
        List<String> recorded = new CopyOnWriteArrayList<>();
        try (CapturedLog log = new CapturedLog()) {
            LeaderMember member = fixture.elected();
            member.addListener(new LeaderListener() {
                @Override
                public void revoked(LeaderRevokedEvent event) {
                    throw new IllegalStateException("as the test wants it");
                }
            });
            member.addListener(LeaderFixture.recordingIn(recorded));

            member.leave();

            eventually().untilAsserted(() -> assertThat(recorded).containsExactly("revoked 1 LEFT"));
            assertThat(log.messages()).singleElement().asString().contains("A leader listener failed");
        }
    }

    @Test
    void one_that_blocks_holds_up_neither_extensions_nor_rotations_and_receives_the_rest_in_order() {
        CountDownLatch goOn = new CountDownLatch(1);
        List<String> recorded = new CopyOnWriteArrayList<>();
        fixture.election.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                hangUntil(goOn);
            }
        });
        fixture.election.addListener(LeaderFixture.recordingIn(recorded));
        LeaderMember member = fixture.elected(LeaderSettings.of(TTL));

        fixture.advance(TTL.multipliedBy(2));
        assertThat(member.fence())
                .hasValueSatisfying(fence -> assertThat(fence.value()).isGreaterThanOrEqualTo(6));
        member.pause();
        assertThat(member.isLeader()).isFalse();
        assertThat(recorded).containsExactly("joined scheduler");
        goOn.countDown();

        eventually()
                .until(() ->
                        recorded.size() > 1 && recorded.get(recorded.size() - 1).startsWith("revoked"));
        int rotations = recorded.size() - 3;
        List<String> expected = new ArrayList<>(List.of("joined scheduler", "elected 1"));
        IntStream.rangeClosed(2, rotations + 1).forEach(fence -> expected.add("rotated " + fence));
        expected.add("revoked " + (rotations + 1) + " PAUSED");
        assertThat(recorded).isEqualTo(expected);
    }

    @Test
    void rotations_are_left_out_and_the_end_is_not_when_too_many_events_wait() {
        CountDownLatch goOn = new CountDownLatch(1);
        try (CapturedLog log = new CapturedLog()) {
            LeaderEventDispatcher dispatcher = new LeaderEventDispatcher(NAME, "node-1", List.of(), Thread::new);
            dispatcher.makeReady();
            List<String> received = new CopyOnWriteArrayList<>();
            dispatcher.add(LeaderFixture.recordingIn(received));
            CountDownLatch hangs = new CountDownLatch(1);
            dispatcher.dispatch(listener -> {
                hangs.countDown();
                hangUntil(goOn);
            });
            eventually().until(() -> hangs.getCount() == 0);
            IntStream.rangeClosed(1, LeaderEventDispatcher.MAX_PENDING + 1)
                    .forEach(each -> dispatcher.fenceRotated(new Fence(each)));

            var last = dispatcher.revoked(new Fence(101), LeaderRevocation.RESIGNED);
            goOn.countDown();

            eventually().until(last::isDone);
            assertThat(received)
                    .hasSize(LeaderEventDispatcher.MAX_PENDING + 1)
                    .endsWith("rotated 100", "revoked 101 RESIGNED");
            assertThat(log.messages())
                    .filteredOn(message -> message.contains("Leader listeners are too slow"))
                    .hasSize(1);
            dispatcher.close();
        }
    }

    @Test
    void a_term_that_ends_before_its_event_is_dispatched_is_reported_from_its_beginning() {
        CountDownLatch goOn = new CountDownLatch(1);
        fixture.election.addListener(new LeaderListener() {
            @Override
            public void joined(LeaderMember member) {
                hangUntil(goOn);
            }
        });
        LeaderMember member = fixture.election.join(NAME, STEADY);
        eventually().until(member::isLeader);

        member.pause();
        goOn.countDown();

        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 PAUSED");
        assertThat(Duration.ofNanos(fixture.process.time.nanoTime())).isZero();
    }
}
