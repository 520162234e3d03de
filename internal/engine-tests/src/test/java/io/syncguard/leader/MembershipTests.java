package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.testing.ScarceThreads;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A membership alone, without a campaign above it and without a server. */
class MembershipTests {

    private final EngineFixture process = new EngineFixture();
    private final List<String> events = new CopyOnWriteArrayList<>();

    private volatile boolean noThreads;

    private final Membership membership = new Membership(() -> {
        if (noThreads) {
            throw ScarceThreads.shortage();
        }
        events.add("changed");
    });

    @AfterEach
    void close() {
        process.close();
    }

    @Test
    void it_takes_part_while_it_is_open_and_joined_and_campaigns_unless_it_is_paused() {
        assertThat(membership.takesPart()).isFalse();
        membership.open();
        assertThat(membership.takesPart()).isFalse();
        join();
        assertThat(membership.takesPart()).isTrue();
        assertThat(membership.isCampaigning()).isTrue();

        membership.pause();
        assertThat(membership.takesPart()).isTrue();
        assertThat(membership.isCampaigning()).isFalse();

        membership.resume();
        assertThat(membership.isCampaigning()).isTrue();
        membership.close();
        assertThat(membership.isJoined()).isTrue();
        assertThat(membership.takesPart()).isFalse();
    }

    @Test
    void a_second_join_changes_nothing() {
        join();
        join();

        assertThat(events).containsExactly("prepare", "changed", "announce");
    }

    @Test
    void a_change_that_gets_no_thread_is_undone() {
        noThreads = true;
        assertThatThrownBy(this::join).hasMessageContaining("unable to create native thread");
        assertThatThrownBy(membership::open).hasMessageContaining("unable to create native thread");
        assertThat(membership.isJoined()).isFalse();
        assertThat(events).containsExactly("prepare");

        noThreads = false;
        join();
        assertThat(membership.takesPart()).isFalse();
        membership.open();
        assertThat(membership.takesPart()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = LeaderRevocation.class,
            names = {"LEFT", "PAUSED", "SHUTDOWN", "RESIGNED"})
    void who_ends_the_campaign_or_resigns_ends_the_term(LeaderRevocation reason) {
        membership.open();
        join();
        LeaderTerm term = term();
        assertThat(membership.begin(term)).isTrue();
        assertThat(membership.term()).isSameAs(term);

        end(reason);

        assertThat(term.isLeader()).isFalse();
        List<String> expected = reason == LeaderRevocation.RESIGNED
                ? List.of("elected 1", "revoked RESIGNED")
                : List.of("elected 1", "changed", "revoked " + reason);
        assertThat(events).endsWith(expected.toArray(String[]::new));
    }

    @ParameterizedTest
    @EnumSource(
            value = LeaderRevocation.class,
            names = {"LEFT", "PAUSED", "SHUTDOWN"})
    void no_term_begins_after_the_end_of_the_campaign(LeaderRevocation reason) {
        membership.open();
        join();
        end(reason);

        assertThat(membership.begin(term())).isFalse();

        assertThat(membership.term()).isNull();
        assertThat(events).noneMatch(event -> event.startsWith("elected"));
    }

    @Test
    void no_term_begins_before_the_join_is_announced() throws Exception {
        membership.open();
        LeaderTerm term = term();
        CompletableFuture<Boolean> begun = new CompletableFuture<>();

        membership.join(() -> {}, () -> {
            inAnotherThread(() -> begun.complete(membership.begin(term)));
            events.add("announce");
        });

        assertThat(begun.get(1, TimeUnit.MINUTES)).isTrue();
        assertThat(events).endsWith("announce", "elected 1");
    }

    private void join() {
        membership.join(() -> events.add("prepare"), () -> events.add("announce"));
    }

    private void end(LeaderRevocation reason) {
        switch (reason) {
            case LEFT -> membership.leave();
            case PAUSED -> membership.pause();
            case SHUTDOWN -> membership.close();
            default -> membership.resign();
        }
    }

    private LeaderTerm term() {
        LockHandle grant =
                process.engine.acquire(LockRequest.of("leader:scheduler").meterName("leader:scheduler"));
        return new LeaderTerm("scheduler", grant, new RecordedEvents(), () -> {});
    }

    private final class RecordedEvents implements TermEvents {

        @Override
        public void elected(Fence fence) {
            events.add("elected " + fence.value());
        }

        @Override
        public void fenceRotated(Fence fence) {
            events.add("rotated " + fence.value());
        }

        @Override
        public CompletableFuture<Void> revoked(Fence fence, LeaderRevocation reason) {
            events.add("revoked " + reason);
            return CompletableFuture.completedFuture(null);
        }
    }
}
