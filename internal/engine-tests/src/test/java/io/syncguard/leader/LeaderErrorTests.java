package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.KEY;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static io.syncguard.leader.LeaderFixture.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.FailingLog;
import io.syncguard.testing.ScarceThreads;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An Error in an election, in a term or at its end ends that attempt, and not the campaign. */
class LeaderErrorTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    /** The number of failures of the leader's lock that are still to come. */
    private final AtomicInteger failures = new AtomicInteger();

    @Test
    void an_election_and_a_revocation_that_cannot_be_logged_are_ones_all_the_same() {
        try (FailingLog log = new FailingLog("This process ")) {
            LeaderMember member = fixture.elected();

            member.resign();

            fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 RESIGNED", "elected 2");
            assertThat(log.failures()).isEqualTo(3);
        }
    }

    /** The methods of the handle that the campaign calls from the grant to the end of the term. */
    @ParameterizedTest
    @ValueSource(strings = {"fence", "onLost", "isHeld", "remaining"})
    void an_error_in_a_term_releases_the_lock_and_the_member_campaigns_after_a_pause(String method) {
        failures.set(3);
        try (CapturedLog log = new CapturedLog()) {
            LeaderMember member = fixture.election.define(NAME, STEADY, locksFailingIn(method));

            fixture.election.join(NAME);
            eventually().until(() -> fixture.process.backend.releases.get() >= 1);
            assertThat(member.isLeader()).isFalse();
            assertThat(fixture.process.store.queue(KEY)).isEmpty();

            afterAPause(() -> failures.get() <= 0 && member.isLeader());
            assertThat(fixture.process.backend.acquires.get()).isBetween(2, 4);
            assertThat(log.messages())
                    .isNotEmpty()
                    .allMatch(message -> message.contains("The campaign for 'scheduler' failed"));
        }
    }

    @Test
    void a_body_is_interrupted_by_an_error_in_its_term_and_ends_under_its_lock() {
        List<String> recorded = new CopyOnWriteArrayList<>();
        LeaderMember member = fixture.election.define(NAME, STEADY, locksFailingIn("remaining"));
        member.runWhileLeader(term -> {
            recorded.add("runs");
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException ex) {
                recorded.add("interrupted, held: " + term.lock().isHeld() + ", leads: " + member.isLeader());
            }
        });
        fixture.election.join(NAME);
        eventually().until(() -> recorded.size() == 1);

        failures.set(1);
        afterAPause(() -> recorded.size() == 3);

        assertThat(recorded).containsExactly("runs", "interrupted, held: true, leads: false", "runs");
        fixture.awaitEvents("joined scheduler", "elected 1", "revoked 1 RESIGNED", "elected 2");
    }

    @Test
    void an_election_without_an_event_is_not_revoked_either() {
        failures.set(1);
        fixture.election.define(NAME, STEADY, locksFailingIn("fence"));

        LeaderMember member = fixture.election.join(NAME);

        afterAPause(member::isLeader);
        fixture.awaitEvents("joined scheduler", "elected 2");
    }

    @Test
    void who_leaves_and_joins_again_after_errors_leads() {
        failures.set(Integer.MAX_VALUE);
        LeaderMember member = fixture.election.define(NAME, STEADY, locksFailingIn("fence"));
        fixture.election.join(NAME);
        eventually().until(() -> fixture.process.backend.releases.get() == 1);

        member.leave();
        member.campaign().awaitEnd(LeaderFixture.SHUTDOWN_TIMEOUT);
        failures.set(0);
        fixture.election.join(NAME);

        afterAPause(member::isLeader);
    }

    /** The attempt that the first change interrupts ends after the second one. */
    @ParameterizedTest
    @ValueSource(strings = {"pause", "leave", "stop"})
    void an_attempt_that_the_member_gave_up_is_no_failure_even_if_it_campaigns_again_when_the_attempt_ends(
            String change) {
        CountDownLatch again = new CountDownLatch(1);
        LeaderMember member = fixture.election.define(NAME, STEADY, locksWithSlowFailures(again));
        fixture.electedElsewhere();
        fixture.queued(member);
        fixture.awaitSleepingCampaign();
        int acquires = fixture.process.backend.acquires.get();

        try (CapturedLog log = new CapturedLog()) {
            switch (change) {
                case "pause" -> {
                    member.pause();
                    member.resume();
                }
                case "leave" -> {
                    member.leave();
                    member.join();
                }
                default -> {
                    member.membership().close();
                    member.membership().open();
                }
            }
            again.countDown();

            // The clock stands still, so a pause would not end.
            eventually().until(() -> fixture.process.backend.acquires.get() > acquires);
            assertThat(log.messages()).isEmpty();
        }
    }

    /** Returns the locks of the fixture. Their failures reach the campaign when the test wants it. */
    private LockManager locksWithSlowFailures(CountDownLatch again) {
        LockManager locks = fixture.process.engine;
        return (LockManager) Proxy.newProxyInstance(
                LockManager.class.getClassLoader(), new Class<?>[] {LockManager.class}, (self, method, arguments) -> {
                    try {
                        return method.getName().equals("current") ? self : method.invoke(locks, arguments);
                    } catch (InvocationTargetException ex) {
                        LeaderFixture.hangUntil(again);
                        throw ex.getCause();
                    }
                });
    }

    @Test
    void an_error_in_a_rotation_is_a_failed_rotation() {
        LeaderMember member = fixture.elected(LeaderSettings.of(TTL).fenceRotation(Duration.ofSeconds(4)));
        fixture.process.backend.beforeExtend = () -> {
            throw ScarceThreads.shortage();
        };

        fixture.advance(Duration.ofSeconds(5));
        assertThat(fixture.process.backend.rotations.get()).isPositive();
        fixture.process.backend.beforeExtend = () -> {};
        fixture.advance(Duration.ofSeconds(4));

        assertThat(member.fence()).contains(new Fence(2));
        fixture.awaitEvents("joined scheduler", "elected 1", "rotated 2");
    }

    @Test
    void an_error_at_the_release_delays_the_next_leader_and_ends_no_campaign() {
        LeaderMember member = fixture.elected();
        LeaderMember next = fixture.queued(fixture.another("node-2"));
        fixture.process.backend.beforeRelease = () -> {
            throw ScarceThreads.shortage();
        };

        member.resign();
        eventually().until(() -> fixture.process.backend.releases.get() > 0);
        assertThat(next.isLeader()).isFalse();
        fixture.process.backend.beforeRelease = () -> {};

        afterAPause(next::isLeader);
        next.leave();
        eventually().until(member::isLeader);
    }

    /** Moves the clock until then: the pause begins when the campaign or the release reaches it. */
    private void afterAPause(BooleanSupplier condition) {
        eventually().until(() -> {
            fixture.advance(Duration.ofMillis(500));
            return condition.getAsBoolean();
        });
    }

    /** The locks of the fixture. This method of each handle fails for the campaign as often as the test wants. */
    private LockManager locksFailingIn(String method) {
        LockManager locks = fixture.process.engine;
        return proxy(
                LockManager.class,
                locks,
                "",
                granted -> granted instanceof LockHandle handle
                        ? proxy(LockHandle.class, handle, method, result -> result)
                        : granted);
    }

    private <T> T proxy(Class<T> type, T target, String failing, UnaryOperator<Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (method.getName().equals(failing)
                            && Thread.currentThread().getName().equals("syncguard-leader-scheduler")
                            && failures.getAndDecrement() > 0) {
                        throw ScarceThreads.shortage();
                    }
                    if (method.getName().equals("current")) {
                        return self;
                    }
                    try {
                        return results.apply(method.invoke(target, arguments));
                    } catch (InvocationTargetException ex) {
                        throw ex.getCause();
                    }
                }));
    }
}
