package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.LockEngine;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two processes, one lock: any process with its id may extend and release it, and the handle of the other one detects
 * that.
 */
class ForeignLockIdTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    private static String url;
    private static ChildJvm child;

    private EngineFixture fixture;
    private LockEngine locks;
    private OtherSession other;

    @BeforeAll
    static void startChild() {
        url = PostgresServer.newDatabaseUrl();
        child = ChildJvm.start(LockProcess.class, url);
    }

    @AfterAll
    static void endChild() {
        child.close();
    }

    @BeforeEach
    void open() {
        fixture = new EngineFixture(PooledPostgres.on(url, 2, Duration.ofMinutes(1)));
        locks = fixture.engine;
        other = new OtherSession(url);
        other.jdbc().execute("TRUNCATE syncguard_locks, syncguard_fence_counters");
    }

    @AfterEach
    void close() {
        other.close();
        fixture.close();
    }

    @Test
    void whoever_was_handed_the_lock_id_can_look_extend_and_release_once() {
        String lockId = child.ask("acquire order:42 3600000");

        assertThat(locks.owns(lockId)).isTrue();
        LockInfo info = locks.admin().lookupById(lockId).orElseThrow();
        assertThat(info.fence().value()).isEqualTo(1);
        assertThat(info.owner()).isEqualTo("child");
        Instant shortened = locks.extend(lockId, Duration.ofMinutes(30)).orElseThrow();
        assertThat(shortened).isBefore(info.expiresAt());
        assertThat(locks.admin().lookupById(lockId).orElseThrow().expiresAt()).isEqualTo(shortened);
        assertThat(locks.release(lockId)).isTrue();

        assertThat(locks.release(lockId)).isFalse();
        assertThat(locks.owns(lockId)).isFalse();
        assertThat(locks.extend(lockId, Duration.ofMinutes(30))).isEmpty();
        assertThat(locks.isLocked("order:42")).isFalse();
        assertThat(fixture.events).as("events without a handle").isEmpty();
    }

    @Test
    void a_handle_whose_lock_another_process_released_is_lost_at_its_next_heartbeat() {
        LockHandle lock = locks.acquire(REQUEST);

        assertThat(child.ask("owns " + lock.lockId())).isEqualTo("true");
        assertThat(child.ask("fence " + lock.lockId())).isEqualTo("000000000000001");
        assertThat(child.ask("release " + lock.lockId())).isEqualTo("true");
        assertThat(lock.isHeld()).as("before its next heartbeat").isTrue();
        fixture.time.advance(Duration.ofSeconds(10));

        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(lock.release()).isFalse();
        assertThat(fixture.events).containsExactly("acquired", "lost");
    }

    @Test
    void a_handle_without_heartbeat_is_held_until_its_own_deadline_whatever_another_process_extended() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());

        assertThat(child.ask("extend " + lock.lockId() + " 3600000")).isEqualTo("true");

        assertThat(locks.admin().lookup("order:42").orElseThrow().expiresAt()).isAfter(lock.expiresAt());
        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        fixture.time.advance(EngineFixture.TTL);
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(child.ask("owns " + lock.lockId())).isEqualTo("true");
        assertThat(child.ask("release " + lock.lockId())).isEqualTo("true");
    }

    /** ShedLock identified the holder by the host's name: a stale holder's unlock freed the next holder's lock. */
    @Test
    void a_stale_lock_id_has_no_effect_in_another_process() {
        LockHandle stale = locks.acquire(REQUEST.noHeartbeat());
        other.jdbc().update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000");
        AcquireRequest next = fixture.holdElsewhere("order:42", EngineFixture.TTL);
        LockInfo before = locks.admin().lookupById(next.lockId()).orElseThrow();

        assertThat(child.ask("owns " + stale.lockId())).isEqualTo("false");
        assertThat(child.ask("extend " + stale.lockId() + " 3600000")).isEqualTo("false");
        assertThat(child.ask("release " + stale.lockId())).isEqualTo("false");

        assertThat(locks.admin().lookupById(next.lockId())).contains(before);
    }
}
