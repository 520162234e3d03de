package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockAdmin;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockOrder;
import io.syncguard.LockPosition;
import io.syncguard.LockQuery;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.OwnedLease;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator ends a lock that hangs. */
class ForcedReleaseTests {

    private static final LockRequest ORDER = LockRequest.of("order:42");

    private final List<String> audit = new ArrayList<>();

    private final List<LockReason> losses = new CopyOnWriteArrayList<>();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture(new LockListener() {
        @Override
        public void forceReleased(ForcedRelease release, String reason) {
            audit.add(release.key() + ", " + release.released().size() + ", " + reason);
        }

        @Override
        public void lost(LockEvent event) {
            losses.add(event.reason());
        }
    });

    private final LockEngine locks = fixture.engine;

    @Test
    void its_holder_in_this_process_knows_at_once() {
        LockHandle hangs = locks.acquire(ORDER);
        LockHandle other = locks.acquire(LockRequest.of("order:43"));

        ForcedRelease done = locks.admin().forceRelease("order:42", "by ann: it hangs");

        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(other.isHeld()).isTrue();
        assertThat(done.fence()).isGreaterThan(hangs.fence());
        eventually().until(() -> losses.equals(List.of(LockReason.RELEASED_BY_FORCE)));
        assertThat(locks.acquire(ORDER).fence()).isGreaterThan(done.fence());
    }

    @Test
    void a_lock_that_was_granted_afterwards_is_left_alone() {
        locks.acquire(ORDER);
        LockHandle[] next = new LockHandle[1];
        fixture.backend.afterForcedRelease = () -> next[0] = locks.acquire(ORDER);

        locks.admin().forceRelease("order:42", "by ann");

        assertThat(next[0].isHeld()).isTrue();
    }

    @Test
    void while_a_lease_remains_its_holder_goes_on() {
        LockHandle commits = locks.acquire(ORDER);
        fixture.backend.answerForcedRelease("order:42", 1, 1);
        giveUpAfterOneTry();

        assertThat(locks.admin().forceRelease("order:42").remaining()).hasSize(1);

        assertThat(commits.isHeld()).isTrue();
    }

    @Test
    void a_holder_in_another_process_detects_it_at_its_next_heartbeat() {
        LockHandle hangs = locks.acquire(ORDER);
        new InMemoryLockBackend(fixture.store).directory().forceRelease("order:42", null);
        assertThat(hangs.isHeld()).isTrue();

        fixture.advanceSlowly(EngineFixture.TTL.dividedBy(3).plusSeconds(1), EngineFixture.TTL.dividedBy(30));

        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void listeners_and_the_log_learn_who_and_why() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        try (CapturedLog log = new CapturedLog()) {
            locks.admin().forceRelease("order:42", "by ann: it hangs");

            assertThat(log.messages())
                    .containsExactly("Lock 'order:42' was released by force: ended 'elsewhere' (fence 1)."
                            + " Reason: by ann: it hangs");
        }
        assertThat(audit).containsExactly("order:42, 1, by ann: it hangs");
    }

    @Test
    void listeners_and_the_log_learn_of_one_that_found_nothing_too_which_is_no_warning() {
        try (CapturedLog warnings = new CapturedLog()) {
            locks.admin().forceRelease("order:41", "by ann");

            assertThat(warnings.messages()).isEmpty();
        }
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            locks.admin().forceRelease("order:42", "by ann: it hangs");

            assertThat(log.messages())
                    .containsExactly("Lock 'order:42' was to be released by force, but nobody held it."
                            + " Reason: by ann: it hangs");
        }
        assertThat(audit).containsExactly("order:41, 0, by ann", "order:42, 0, by ann: it hangs");
    }

    @Test
    void one_that_could_end_nothing_is_a_warning() {
        fixture.backend.answerForcedRelease("order:42", 0, 1);
        assertThat(warning())
                .contains("not released by force because of a running commit under 'another process' (fence 1).");
    }

    @Test
    void the_log_names_three_leases_that_ended_and_what_a_commit_keeps() {
        fixture.backend.answerForcedRelease("order:42", 5, 1);
        assertThat(warning())
                .contains("ended 'another process' (fence 500), 'another process' (fence 501), 'another process'"
                        + " (fence 502) and 2 more; left because of a running commit: 'another process' (fence 1).");
    }

    @Test
    void one_that_names_a_grant_that_is_over_ends_nothing_and_names_the_holder() {
        LockHandle hung = locks.acquire(ORDER);
        hung.release();
        LockHandle next = locks.acquire(ORDER);
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            ForcedRelease done = locks.admin().forceRelease("order:42", hung.fence());

            assertThat(done.released()).isEmpty();
            assertThat(log.messages())
                    .containsExactly("Lock 'order:42' was to be released by force (fence 1), but it is held by 'test'"
                            + " (fence 2). Reason: no reason was given");
        }
        assertThat(next.isHeld()).isTrue();
        assertThat(locks.admin()
                        .forceRelease("order:42", next.fence(), "by ann")
                        .released())
                .hasSize(1);
        assertThat(next.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void a_named_grant_is_tried_again_while_a_commit_keeps_it_and_not_because_of_others() {
        LockHandle works = locks.acquire(ORDER.shared());
        LockHandle hangs = locks.acquire(ORDER.shared());

        assertThat(locks.admin().forceRelease("order:42", hangs.fence()).remaining())
                .hasSize(1);

        assertThat(works.isHeld()).isTrue();
        fixture.backend.answerForcedRelease("order:42", 0, 1);
        List<String> tries = new ArrayList<>();
        fixture.backend.afterForcedRelease = () -> {
            tries.add("try");
            fixture.time.advance(Duration.ofMillis(300));
        };
        FutureTask<ForcedRelease> release = inAnotherThread(() -> locks.admin().forceRelease("order:42", new Fence(1)));
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(25));
            return release.isDone();
        });
        assertThat(tries).hasSize(2);
    }

    @Test
    void what_has_ended_before_a_try_that_fails_is_reported() {
        fixture.backend.answerForcedRelease("order:42", 1, 1);
        fixture.backend.afterForcedRelease =
                () -> fixture.backend.afterForcedRelease = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
        FutureTask<ForcedRelease> release = inAnotherThread(() -> locks.admin().forceRelease("order:42", "by ann"));

        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(25));
            return release.isDone();
        });

        assertThatThrownBy(release::get).hasCauseInstanceOf(LockBackendException.class);
        assertThat(audit).containsExactly("order:42, 1, by ann");
    }

    @Test
    void an_interrupt_ends_the_tries() {
        fixture.backend.answerForcedRelease("order:42", 1, 1);
        fixture.backend.afterForcedRelease = Thread.currentThread()::interrupt;

        assertThat(locks.admin().forceRelease("order:42").remaining()).hasSize(1);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void the_status_and_the_list_come_from_the_store() {
        fixture.holdElsewhere("order:42", EngineFixture.TTL);
        assertThat(locks.admin().status("order:42").orElseThrow().holders()).hasSize(1);
        assertThat(locks.admin().status("order:43")).isEmpty();
        assertThat(locks.admin().list(LockQuery.all().startingWith("order:")).locks())
                .hasSize(1);
    }

    @Test
    void a_key_that_cannot_be_is_refused_before_anything_is_sent() {
        assertThatThrownBy(() -> locks.admin().forceRelease(""))
                .isInstanceOf(LockException.class)
                .extracting(failure -> ((LockException) failure).code())
                .isEqualTo(LockErrorCode.INVALID_ARGUMENT);
        assertThatThrownBy(() -> locks.admin().status("")).isInstanceOf(LockException.class);
    }

    @Test
    void a_list_has_a_hundred_keys_unless_asked_for_more() {
        assertThat(LockQuery.all().limit()).isEqualTo(100);
        assertThat(LockQuery.all().limit(LockQuery.MAX_LIMIT).limit()).isEqualTo(1000);
    }

    @Test
    void each_part_of_a_query_can_be_changed_without_the_others() {
        LockQuery query = LockQuery.all()
                .startingWith("order:")
                .containing("4")
                .owner("host")
                .waitedFor()
                .after("order:41")
                .limit(7);

        assertThat(LockQuery.all()
                        .limit(7)
                        .after("order:41")
                        .waitedFor()
                        .owner("host")
                        .containing("4")
                        .startingWith("order:"))
                .isEqualTo(query);
    }

    @Test
    void all_leases_of_an_owner_are_listed_and_ended_and_no_others() {
        fixture.holdElsewhere("a", EngineFixture.TTL);
        fixture.holdElsewhere("b", EngineFixture.TTL);
        LockHandle own = locks.acquire(LockRequest.of("c"));
        fixture.queueElsewhere("c");
        LockAdmin admin = locks.admin();

        assertThat(admin.leasesOf("elsewhere")).extracting(OwnedLease::key).containsExactly("a", "b");
        assertThat(admin.leasesOf("ELSEWHERE")).isEmpty();
        assertThat(admin.forceReleaseAll("elsewhere", "the host died"))
                .allSatisfy(done -> assertThat(done.released()).hasSize(1))
                .extracting(ForcedRelease::key)
                .containsExactly("a", "b");
        assertThat(admin.leasesOf("elsewhere")).isEmpty();
        assertThat(own.isHeld()).isTrue();
    }

    @Test
    void a_release_of_all_needs_a_part_of_an_owner() {
        assertThatThrownBy(() -> locks.admin().forceReleaseAll("", "by mistake"))
                .hasMessageContaining("part of an owner");
    }

    @Test
    void another_order_begins_with_its_first_page() {
        LockQuery query = LockQuery.all().orderedBy(LockOrder.LONGEST_WAIT).after("1500:order:41");

        assertThat(query.position()).isEqualTo(new LockPosition(LockOrder.LONGEST_WAIT, 1500, "order:41"));
        assertThat(query.limit(7).after()).isEqualTo("1500:order:41");
        assertThat(query.orderedBy(LockOrder.ENDS_FIRST).after()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, LockQuery.MAX_LIMIT + 1})
    void a_page_has_a_limit(int limit) {
        assertThatThrownBy(() -> LockQuery.all().limit(limit))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("from 1 to 1000");
    }

    /** The only warning of a forced release that tries once. */
    private String warning() {
        giveUpAfterOneTry();
        try (CapturedLog log = new CapturedLog()) {
            locks.admin().forceRelease("order:42", "by ann");

            assertThat(log.messages()).hasSize(1);
            return log.messages().get(0);
        }
    }

    /** The store takes as long as the engine would try. */
    private void giveUpAfterOneTry() {
        fixture.backend.afterForcedRelease = () -> fixture.time.advance(Duration.ofSeconds(1));
    }
}
