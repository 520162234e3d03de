package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockInfo;
import io.syncguard.core.ContractStore;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.FenceOrder;
import io.syncguard.core.InterceptedBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The scenarios of leadership on a real server: two processes, each with a separate clock that the test moves, and a
 * downstream service that receives fences. An extension of the test's class provides the store, empty for each test.
 */
public abstract class LeadershipContract {

    private static final String NAME = "scheduler";
    private static final Duration TTL = Duration.ofSeconds(60);
    private static final Duration ROTATION = Duration.ofSeconds(20);

    /**
     * The example of the requirements: 60 s, a heartbeat every 10 s, a new fence every 20 s. Both nodes have one name.
     */
    private static final LeaderSettings SETTINGS = LeaderSettings.of(TTL)
            .heartbeat(Duration.ofSeconds(10))
            .fenceRotation(ROTATION)
            .owner("sched-server-1");

    private final List<EngineFixture> processes = new ArrayList<>();
    private final List<LeaderElection> elections = new ArrayList<>();
    private final FencedDownstream downstream = new FencedDownstream();

    private ContractStore store;
    private FenceOrder fences;
    private EngineFixture here;
    private LeaderMember member;
    private EngineFixture there;
    private LeaderMember other;

    @BeforeEach
    void openProcesses(ContractStore empty) {
        store = empty;
        fences = new FenceOrder(empty);
        here = process();
        member = member(here);
        there = process();
        other = member(there);
    }

    @AfterEach
    void closeProcesses() {
        elections.forEach(LeaderElection::close);
        processes.forEach(EngineFixture::close);
        downstream.close();
    }

    @Test
    void the_first_election_has_the_first_fence() {
        elect(member);

        assertThat(member.fence()).hasValueSatisfying(nth(1));
        assertThat(leader()).isEqualTo(under(member));
    }

    @Test
    void a_renewal_keeps_the_fence_until_its_rotation_is_due_and_takes_the_next_one_then() {
        elect(member);

        here.advanceSlowly(ROTATION.minusSeconds(1), Duration.ofSeconds(1));
        assertThat(here.backend.extendStatements.get()).isPositive();
        assertThat(member.fence()).hasValueSatisfying(nth(1));
        here.time.advance(Duration.ofSeconds(2));

        eventually().untilAsserted(() -> assertThat(member.fence()).hasValueSatisfying(nth(2)));
        assertThat(leader()).isEqualTo(under(member));
    }

    @Test
    void a_node_with_the_name_of_the_leader_neither_takes_its_leadership_nor_its_fence() {
        elect(member);

        queue(other);
        assertThat(other.isLeader()).isFalse();
        assertThat(other.fence()).isEmpty();
        member.resign();

        eventually().until(other::isLeader);
        assertThat(other.fence()).hasValueSatisfying(nth(2));
    }

    @Test
    void resignation_hands_over_without_a_poll() {
        elect(member);
        queue(other);

        member.resign();

        eventually().until(other::isLeader);
        assertThat(there.time.nanoTime())
                .as("the passed time of the clock that polls use")
                .isZero();
    }

    @Test
    void after_the_end_of_its_lease_another_leads_under_a_larger_fence() {
        elect(member);
        rotate();
        partition(here);

        expire(member);
        elect(other);

        assertThat(other.fence()).hasValueSatisfying(nth(3));
    }

    @Test
    void the_old_leader_knows_before_it_is_back_and_is_none_when_it_is() {
        elect(member);
        String lockId = lockId(member);
        partition(here);
        here.advanceSlowly(TTL, Duration.ofSeconds(2));
        assertThat(member.isLeader()).isFalse();
        store.expireLease(lockId);
        elect(other);

        heal(here);
        here.advanceSlowly(Duration.ofSeconds(20), Duration.ofSeconds(1));

        assertThat(member.isLeader()).isFalse();
        assertThat(other.isLeader()).isTrue();
        assertThat(leader()).isEqualTo(under(other));
    }

    @Test
    void a_leader_whose_lease_was_taken_learns_it_at_its_next_heartbeat() {
        elect(member);
        expire(member);
        elect(other);
        assertThat(member.isLeader())
                .as("by its own clock, which the test has not moved")
                .isTrue();

        here.advanceSlowly(Duration.ofSeconds(11), Duration.ofSeconds(1));

        eventually().until(() -> !member.isLeader());
        assertThat(other.isLeader()).isTrue();
    }

    @Test
    void downstream_takes_every_request_of_the_leader_and_none_of_the_one_before() {
        elect(member);
        Fence old = member.fence().orElseThrow();
        assertThat(downstream.send(old)).isEqualTo(200);
        assertThat(downstream.send(old)).as("the same fence once more").isEqualTo(200);
        rotate();
        assertThat(downstream.send(member.fence().orElseThrow())).isEqualTo(200);
        Fence last = member.fence().orElseThrow();
        partition(here);
        expire(member);
        elect(other);

        assertThat(downstream.send(last))
                .as("before the first request of the new leader")
                .isEqualTo(200);
        assertThat(downstream.send(other.fence().orElseThrow())).isEqualTo(200);
        assertThat(downstream.send(last))
                .as("of the leader that has not detected its loss")
                .isEqualTo(409);
        assertThat(downstream.send(old)).isEqualTo(409);
        assertThat(downstream.send(other.fence().orElseThrow())).isEqualTo(200);
    }

    private EngineFixture process() {
        EngineFixture process = new EngineFixture(store.newBackend());
        processes.add(process);
        return process;
    }

    private LeaderMember member(EngineFixture process) {
        LeaderElection election =
                new LeaderElection(process.engine, "unnamed", Duration.ofSeconds(10), process.time, Thread::new);
        elections.add(election);
        election.start();
        return election.define(NAME, SETTINGS, process.engine);
    }

    /**
     * An attempt may fail on a slow machine. The campaign makes the next one after a pause by the clock of the process.
     */
    private void elect(LeaderMember member) {
        EngineFixture process = member == other ? there : here;
        member.join();
        eventually().until(() -> {
            if (process.events.stream().anyMatch(event -> event.startsWith("failed ACQUIRE"))) {
                process.time.advance(Duration.ofMillis(10));
            }
            return member.isLeader();
        });
    }

    /** Lets the other process wait for its turn, and receive the wake-up. */
    private void queue(LeaderMember other) {
        other.join();
        eventually().until(() -> isInQueue() && there.backend.isConnected());
    }

    private boolean isInQueue() {
        return there.backend
                .directory()
                .status("leader:" + NAME)
                .filter(status -> status.waiters() == 1)
                .isPresent();
    }

    private Condition<Fence> nth(long n) {
        return fences.nth("leader:" + NAME, n);
    }

    /** The result of {@link #leader} if this member leads. */
    private static String under(LeaderMember leader) {
        return "sched-server-1 under " + leader.fence().orElseThrow().value();
    }

    /** Takes the next fence now. */
    private void rotate() {
        Fence before = member.fence().orElseThrow();
        here.time.advance(ROTATION);
        eventually().until(() -> member.fence().orElseThrow().compareTo(before) > 0);
    }

    private void expire(LeaderMember member) {
        store.expireLease(lockId(member));
    }

    private static String lockId(LeaderMember member) {
        return Objects.requireNonNull(member.membership().term()).lock().lockId();
    }

    /** From now on all requests of this process fail. */
    private static void partition(EngineFixture process) {
        Runnable lost = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        process.backend.beforeAcquire = lost;
        process.backend.beforeExtend = lost;
        process.backend.beforeRelease = lost;
        process.backend.beforeRenewal = lost;
    }

    private static void heal(EngineFixture process) {
        Runnable nothing = () -> {};
        process.backend.beforeAcquire = nothing;
        process.backend.beforeExtend = nothing;
        process.backend.beforeRelease = nothing;
        process.backend.beforeRenewal = nothing;
    }

    private String leader() {
        LockInfo leader = elections.get(0).leader(NAME).orElseThrow();
        return leader.owner() + " under " + leader.fence().value();
    }
}
