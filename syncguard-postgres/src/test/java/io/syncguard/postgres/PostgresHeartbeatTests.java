package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.LockEngine;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The heartbeat on a real server that fails, is locked, or has no lease of a lock any more. The clock of the holder is
 * moved by hand.
 */
class PostgresHeartbeatTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private static String url;

    private EngineFixture fixture;
    private LockEngine locks;
    private OtherSession other;

    @BeforeAll
    static void makeDatabase() {
        url = PostgresServer.newDatabaseUrl();
    }

    @BeforeEach
    void open() {
        open(Duration.ofMinutes(1));
        other = new OtherSession(url);
        other.jdbc().execute("TRUNCATE syncguard_locks, syncguard_fence_counters");
    }

    @AfterEach
    void close() {
        other.close();
        fixture.close();
    }

    /** ShedLock's KeepAlive ended at the first failed renewal, forever and without a message. */
    @Test
    void a_tick_whose_session_is_killed_is_logged_and_the_next_ones_go_on() {
        LockHandle lock = locks.acquire(REQUEST);
        other.run("LOCK TABLE syncguard_locks IN ACCESS EXCLUSIVE MODE");
        try (CapturedLog log = new CapturedLog()) {
            fixture.time.advance(Duration.ofSeconds(10));
            other.awaitWaiter();
            other.killWaiters();
            eventually().until(() -> fixture.events.contains("failed EXTEND SERVICE_UNAVAILABLE"));
            assertThat(log.messages())
                    .singleElement(STRING)
                    .contains("could not extend 1 lock(s) and tries again; each is held until its ttl is over")
                    .doesNotContain(lock.lockId());
        }

        other.rollback();
        fixture.time.advance(Duration.ofMillis(2_500));
        eventually().until(() -> fixture.events.contains("extended"));
        fixture.advanceSlowly(Duration.ofMinutes(2), Duration.ofSeconds(5));
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void a_table_that_is_locked_for_longer_than_a_tick_costs_only_the_locks_whose_ttl_passes() {
        fixture.close();
        // A statement that waits for the table gives up after eight tenths of a second.
        open(Duration.ofSeconds(2));
        LockHandle brief = locks.acquire(REQUEST);
        LockHandle lasting = locks.acquire(LockRequest.of("order:43").ttl(Duration.ofMinutes(2)));
        other.run("LOCK TABLE syncguard_locks IN ACCESS EXCLUSIVE MODE");

        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> Collections.frequency(fixture.events, "failed EXTEND NETWORK_TIMEOUT") == 1);
        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> Collections.frequency(fixture.events, "failed EXTEND NETWORK_TIMEOUT") == 2);
        assertThat(brief.isHeld()).as("until its ttl is over").isTrue();
        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(brief.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(lasting.isHeld()).isTrue();
        other.rollback();
        while (!fixture.events.contains("extended")) {
            int soFar = fixture.events.size();
            fixture.time.advance(Duration.ofSeconds(10));
            eventually().until(() -> fixture.events.size() > soFar);
        }
        assertThat(lasting.isHeld()).isTrue();
        assertThat(fixture.events).containsOnlyOnce("lost");
    }

    @Test
    void a_row_that_was_deleted_is_a_loss_at_the_next_tick_and_the_others_go_on() {
        LockHandle deleted = locks.acquire(REQUEST);
        LockHandle left = locks.acquire(LockRequest.of("order:43"));
        other.jdbc().update("DELETE FROM syncguard_locks WHERE key = 'order:42'");

        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("lost") && fixture.events.contains("extended"));
        assertThat(deleted.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(left.isHeld()).isTrue();
    }

    /**
     * jeeware's heartbeat and unlock used the key: a holder that had paused extended the next holder's lock, and then
     * freed it.
     */
    @Test
    void a_lease_that_was_taken_over_is_a_loss_and_neither_heartbeat_nor_release_touch_the_next_holders() {
        LockHandle stale = locks.acquire(REQUEST);
        endLease("order:42");
        AcquireRequest next = fixture.holdElsewhere("order:42", Duration.ofHours(1));
        LockInfo before = locks.admin().lookupById(next.lockId()).orElseThrow();

        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(stale.extend(Duration.ofMillis(1))).isFalse();
        assertThat(stale.release()).isFalse();
        eventually().until(() -> fixture.backend.releases.get() > 0);
        fixture.settle();

        assertThat(locks.admin().lookupById(next.lockId())).contains(before);
        assertThat(before.fence().value()).isEqualTo(2);
    }

    @Test
    void of_a_thousand_locks_the_three_that_are_gone_are_lost_and_the_others_are_extended_in_one_statement() {
        List<LockHandle> handles = IntStream.range(0, 1000)
                .mapToObj(i -> locks.acquire(LockRequest.of("k" + i)))
                .toList();
        other.jdbc().update("DELETE FROM syncguard_locks WHERE key IN ('k1', 'k500')");
        endLease("k999");
        fixture.holdElsewhere("k999", Duration.ofHours(1));

        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> Collections.frequency(fixture.events, "extended") == 997);
        assertThat(handles)
                .filteredOn(handle -> !handle.isHeld())
                .extracting(LockHandle::key)
                .containsExactly("k1", "k500", "k999");
        eventually().until(() -> Collections.frequency(fixture.events, "lost") == 3);
        assertThat(fixture.backend.extendStatements).hasValue(1);
    }

    @Test
    void a_row_that_is_pinned_for_longer_than_a_tick_is_not_lost_and_holds_up_nobody() {
        LockHandle pinned = locks.acquire(REQUEST);
        LockHandle free = locks.acquire(LockRequest.of("order:43"));
        other.run("SELECT FROM syncguard_locks WHERE key = 'order:42' FOR UPDATE");

        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.contains("extended"));
        assertThat(free.remaining()).isEqualTo(EngineFixture.TTL);
        fixture.advanceSlowly(Duration.ofSeconds(15), Duration.ofSeconds(1));
        assertThat(pinned.remaining()).isEqualTo(Duration.ofSeconds(5));
        other.rollback();
        fixture.advanceSlowly(Duration.ofMillis(100), Duration.ofMillis(10));

        assertThat(pinned.remaining()).isGreaterThan(Duration.ofSeconds(5));
        assertThat(fixture.events).doesNotContain("lost");
    }

    @Test
    void a_row_that_is_pinned_past_its_ttl_is_lost_at_its_deadline() {
        LockHandle pinned = locks.acquire(REQUEST);
        other.run("SELECT FROM syncguard_locks FOR UPDATE");

        fixture.advanceSlowly(Duration.ofSeconds(29), Duration.ofSeconds(1));
        assertThat(pinned.isHeld()).isTrue();
        fixture.time.advance(Duration.ofSeconds(1));

        eventually().until(() -> fixture.events.contains("lost"));
    }

    @Test
    void a_guarded_commit_that_pins_the_row_is_passed_by_the_first_try() {
        LockHandle lock = locks.acquire(REQUEST);
        other.run("SELECT FROM syncguard_locks FOR KEY SHARE");

        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("extended"));
        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        assertThat(fixture.backend.extendStatements).hasValue(1);
    }

    @Test
    void an_extension_by_hand_of_a_row_that_stays_pinned_is_an_error_and_the_lock_is_as_it_was() {
        LockHandle lock = locks.acquire(REQUEST);
        other.run("SELECT FROM syncguard_locks FOR UPDATE");
        FutureTask<Boolean> extension = inAnotherThread(() -> lock.extend(Duration.ofMinutes(1)));

        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(10));
            return extension.isDone();
        });

        assertThatThrownBy(extension::get)
                .cause()
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.NETWORK_TIMEOUT));
        assertThat(lock.remaining()).isGreaterThan(Duration.ofSeconds(20));
        assertThat(fixture.backend.extendStatements)
                .as("tried for half a second")
                .hasValueBetween(2, 60);
    }

    @Test
    void an_extension_by_lock_id_waits_for_a_row_that_is_pinned_as_one_by_handle_does() throws Exception {
        AcquireRequest elsewhere = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        other.run("SELECT FROM syncguard_locks FOR UPDATE");
        FutureTask<Optional<Instant>> extension =
                inAnotherThread(() -> locks.extend(elsewhere.lockId(), Duration.ofHours(1)));
        eventually().until(() -> extension.isDone() || fixture.time.sleepers() == 1);

        other.rollback();

        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(10));
            return extension.isDone();
        });
        assertThat(extension.get())
                .contains(locks.admin().lookup("order:42").orElseThrow().expiresAt());
    }

    private void open(Duration networkTimeout) {
        fixture = new EngineFixture(PooledPostgres.on(url, 2, networkTimeout));
        locks = fixture.engine;
    }

    private void endLease(String key) {
        other.jdbc()
                .update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000 WHERE key = ?", key);
    }
}
