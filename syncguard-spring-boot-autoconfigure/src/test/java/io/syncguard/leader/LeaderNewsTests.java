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

/** What listeners are told, in which order, and what becomes of those that fail or block. */
class LeaderNewsTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    @Test
    void a_listener_of_one_member_is_told_of_that_one() {
        List<String> told = new CopyOnWriteArrayList<>();
        fixture.elected().addListener(LeaderFixture.recordingIn(told));
        fixture.election.join("another");
        eventually().until(() -> fixture.election.isLeader("another"));

        fixture.election.member(NAME).leave();
        fixture.election.member("another").leave();

        eventually().until(() -> fixture.news.size() == 6);
        assertThat(told).containsExactly("revoked 1 LEFT");
    }

    @Test
    void a_listener_that_is_taken_back_is_told_no_more() {
        List<String> told = new CopyOnWriteArrayList<>();
        LeaderRegistration listener = fixture.elected().addListener(LeaderFixture.recordingIn(told));

        listener.close();
        fixture.election.member(NAME).leave();

        fixture.awaitNews("joined scheduler", "elected 1", "revoked 1 LEFT");
        assertThat(told).isEmpty();
    }

    @Test
    void a_listener_that_fails_hides_nothing_from_the_others() {
        List<String> told = new CopyOnWriteArrayList<>();
        try (CapturedLog log = new CapturedLog()) {
            LeaderMember member = fixture.elected();
            member.addListener(new LeaderListener() {
                @Override
                public void revoked(LeaderRevokedEvent event) {
                    throw new IllegalStateException("as the test wants it");
                }
            });
            member.addListener(LeaderFixture.recordingIn(told));

            member.leave();

            eventually().untilAsserted(() -> assertThat(told).containsExactly("revoked 1 LEFT"));
            assertThat(log.messages()).singleElement().asString().contains("A leader listener failed");
        }
    }

    @Test
    void one_that_blocks_holds_up_neither_renewals_nor_rotations_and_is_told_the_rest_in_order() {
        CountDownLatch goOn = new CountDownLatch(1);
        List<String> told = new CopyOnWriteArrayList<>();
        fixture.election.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                hangUntil(goOn);
            }
        });
        fixture.election.addListener(LeaderFixture.recordingIn(told));
        LeaderMember member = fixture.elected(LeaderSettings.of(TTL));

        fixture.advance(TTL.multipliedBy(2));
        assertThat(member.fence())
                .hasValueSatisfying(fence -> assertThat(fence.value()).isGreaterThanOrEqualTo(6));
        member.pause();
        assertThat(member.isLeader()).isFalse();
        assertThat(told).containsExactly("joined scheduler");
        goOn.countDown();

        eventually().until(() -> told.size() > 1 && told.get(told.size() - 1).startsWith("revoked"));
        int rotations = told.size() - 3;
        List<String> expected = new ArrayList<>(List.of("joined scheduler", "elected 1"));
        IntStream.rangeClosed(2, rotations + 1).forEach(fence -> expected.add("rotated " + fence));
        expected.add("revoked " + (rotations + 1) + " PAUSED");
        assertThat(told).isEqualTo(expected);
    }

    @Test
    void rotations_are_left_out_and_the_end_is_not_when_too_many_news_wait() {
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
    void a_term_that_ends_before_it_was_told_is_told_from_its_beginning() {
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

        fixture.awaitNews("joined scheduler", "elected 1", "revoked 1 PAUSED");
        assertThat(Duration.ofNanos(fixture.process.time.nanoTime())).isZero();
    }
}
