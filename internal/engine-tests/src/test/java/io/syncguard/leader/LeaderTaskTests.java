package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.SHUTDOWN_TIMEOUT;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static io.syncguard.leader.LeaderFixture.TTL;
import static io.syncguard.leader.LeaderFixture.hangUntil;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.testing.CapturedLog;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Work that runs for as long as this process leads. */
class LeaderTaskTests {

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    private final List<String> recorded = new CopyOnWriteArrayList<>();

    @Test
    void it_begins_with_the_election_is_interrupted_at_the_end_and_begins_again_with_the_next_one() {
        LeaderMember member = fixture.election.define(NAME, STEADY, fixture.process.engine);
        member.runWhileLeader(this::untilInterrupted);
        assertThat(recorded).isEmpty();

        fixture.election.join(NAME);
        awaitRecorded("begins 1 on syncguard-leader-scheduler-task");
        member.resign();

        awaitRecorded(
                "begins 1 on syncguard-leader-scheduler-task",
                "interrupted, leads: false",
                "begins 2 on syncguard-leader-scheduler-task");
    }

    @Test
    void it_begins_at_once_in_a_process_that_leads_already() {
        LeaderMember member = fixture.elected();

        member.runWhileLeader(this::untilInterrupted);

        awaitRecorded("begins 1 on syncguard-leader-scheduler-task");
    }

    @Test
    void it_is_interrupted_when_the_lock_is_lost_and_finds_that_it_leads_no_longer() {
        LeaderMember member = fixture.elected();
        member.runWhileLeader(this::untilInterrupted);
        eventually().until(() -> recorded.size() == 1);
        fixture.process.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.process.backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        fixture.advance(TTL);

        awaitRecorded("begins 1 on syncguard-leader-scheduler-task", "interrupted, leads: false");
    }

    @Test
    void the_lock_of_the_leader_is_its_current_one() {
        AtomicReference<String> key = new AtomicReference<>();
        LeaderMember member = fixture.elected();

        member.runWhileLeader(term -> key.set(LockHandle.current().orElseThrow().key() + " "
                + LockHandle.current().orElseThrow().fence()));

        eventually().untilAsserted(() -> assertThat(key).hasValue("leader:scheduler " + new Fence(1)));
    }

    @Test
    void it_may_resign_by_itself() {
        LeaderMember member = fixture.elected();
        LeaderMember next = fixture.queued(fixture.another("node-2"));

        member.runWhileLeader(LeaderTerm::resign);

        eventually().until(next::isLeader);
    }

    @Test
    void one_that_returns_is_not_called_again_in_the_same_term() {
        AtomicInteger runs = new AtomicInteger();
        LeaderMember member = fixture.elected(LeaderFixture.STEADY);
        member.runWhileLeader(term -> runs.incrementAndGet());

        eventually().until(() -> runs.get() == 1);
        fixture.advance(TTL);
        assertThat(runs).hasValue(1);
        member.resign();

        eventually().until(() -> runs.get() == 2);
    }

    @Test
    void one_that_fails_is_reported_and_ends_no_leadership() {
        try (CapturedLog log = new CapturedLog()) {
            LeaderMember member = fixture.elected();

            member.runWhileLeader(term -> {
                throw new IllegalStateException("as the test wants it");
            });

            eventually().until(() -> !log.messages().isEmpty());
            assertThat(log.messages()).singleElement().asString().contains("'scheduler'", "failed");
            assertThat(member.isLeader()).isTrue();
        }
    }

    @Test
    void one_that_ignores_the_end_of_its_term_never_runs_beside_itself() {
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        LeaderMember member = fixture.elected();
        member.runWhileLeader(term -> {
            recorded.add("runs " + running.incrementAndGet());
            hangUntil(end);
            running.decrementAndGet();
        });
        eventually().until(() -> recorded.size() == 1);

        member.resign();
        fixture.advance(SHUTDOWN_TIMEOUT.plusSeconds(1));
        eventually().until(member::isLeader);
        fixture.process.settle();
        assertThat(recorded).containsExactly("runs 1");
        end.countDown();

        awaitRecorded("runs 1", "runs 1");
    }

    @Test
    void the_interrupt_does_not_outlive_the_run() {
        AtomicReference<Boolean> flag = new AtomicReference<>();
        LeaderMember member = fixture.elected();
        AtomicInteger runs = new AtomicInteger();
        member.runWhileLeader(term -> {
            if (runs.incrementAndGet() == 1) {
                while (term.isLeader()) {
                    Thread.onSpinWait();
                }
            } else {
                flag.set(Thread.currentThread().isInterrupted());
            }
        });
        eventually().until(() -> runs.get() == 1);

        member.resign();

        eventually().untilAsserted(() -> assertThat(flag).hasValue(false));
    }

    @Test
    void a_term_that_is_given_to_a_task_twice_runs_once() {
        LeaderMember member = fixture.elected();
        LeaderTerm term = member.membership().term();
        RepeatedTask task = new RepeatedTask(NAME, running -> recorded.add("runs"), Thread::new);

        task.start(term);
        eventually().until(() -> recorded.size() == 1 && term.bodies() == 0);
        task.start(term);
        member.resign();
        eventually().until(() -> member.isLeader() && member.membership().term() != term);
        task.start(term);
        task.start(member.membership().term());

        eventually().until(() -> recorded.size() == 2);
        task.close();
        assertThat(recorded).hasSize(2);
    }

    @Test
    void one_that_is_removed_is_interrupted_and_begins_no_more() {
        LeaderMember member = fixture.elected();
        LeaderRegistration task = member.runWhileLeader(this::untilInterrupted);
        eventually().until(() -> recorded.size() == 1);

        task.close();
        awaitRecorded("begins 1 on syncguard-leader-scheduler-task", "interrupted, leads: true");
        member.resign();
        eventually().until(member::isLeader);
        fixture.process.settle();

        assertThat(recorded).hasSize(2);
    }

    private void untilInterrupted(LeaderTerm term) {
        recorded.add("begins " + term.fence().value() + " on "
                + Thread.currentThread().getName());
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException ex) {
            recorded.add("interrupted, leads: " + term.isLeader());
        }
    }

    private void awaitRecorded(String... expected) {
        eventually().untilAsserted(() -> assertThat(recorded).containsExactly(expected));
    }
}
