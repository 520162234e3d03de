package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.KEY;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.testing.CapturedLog;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What runs for the leader stops its own application, which does not wait for it. The clock stands still. */
class EndFromLeaderTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    private final LeaderMember member = fixture.election.define(NAME, STEADY, fixture.process.engine);
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Test
    void a_listener_of_the_election_that_stops_is_not_waited_for() {
        member.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                stop();
            }
        });

        assertStopped();
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 SHUTDOWN");
    }

    @Test
    void a_listener_of_the_end_of_a_term_that_stops_is_not_waited_for() {
        member.addListener(new LeaderListener() {
            @Override
            public void revoked(LeaderRevokedEvent event) {
                stop();
            }
        });
        member.runWhileLeader(LeaderTerm::resign);

        assertStopped();
    }

    @Test
    void a_task_that_stops_is_not_waited_for() {
        member.runWhileLeader(term -> stop());

        assertStopped();
    }

    @Test
    void a_body_that_stops_is_not_waited_for_and_not_interrupted() throws Exception {
        fixture.elected();
        TermBody body = member.beginBody();

        boolean interrupted = body.call(() -> {
            stop();
            return Thread.interrupted();
        });

        assertThat(interrupted).isFalse();
        assertStopped();
    }

    @Test
    void other_holders_still_have_time() {
        LockHandle other = fixture.process.engine.acquire(LockRequest.of("order:1"));
        member.runWhileLeader(term -> stop());
        fixture.election.join(NAME);
        eventually().until(() -> !fixture.process.backend.isLocked(KEY) && isStopping());
        fixture.process.settle();
        assertThat(other.isHeld()).isTrue();

        assertThat(other.release()).isTrue();

        eventually().until(() -> stopped.getCount() == 0);
    }

    /** A listener of its lock runs on the thread of the campaign. */
    private void assertStopped() {
        try (CapturedLog log = new CapturedLog()) {
            fixture.election.join(NAME);

            eventually().until(() -> stopped.getCount() == 0);
            eventually().until(() -> !fixture.process.backend.isLocked(KEY));
            assertThat(log.messages()).isEmpty();
        }
    }

    private boolean isStopping() {
        return !fixture.process.engine.diagnostics().process().grantsLocks();
    }

    private void stop() {
        fixture.election.close();
        fixture.process.engine.close();
        stopped.countDown();
    }
}
