package io.syncguard.postgres;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockRequest;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Processes that hold a lock and are paused or killed. Only these tests wait until a lease ends by the real clock. */
@Tag("verification")
class ProcessFaultTests {

    private static final String CHILD = "the child";

    private final String url = PostgresServer.newDatabaseUrl();
    private final LockEngine locks =
            new LockEngine(PooledPostgres.on(url), DefaultSettings.of("parent"), TransactionBoundary.NONE, List.of());
    private final OtherSession other = new OtherSession(url);
    private final ChildJvm child =
            ChildJvm.start(LockProcess.class, url + "&ApplicationName=" + CHILD.replace(" ", "%20"));

    @AfterEach
    void close() {
        child.close();
        other.close();
        locks.close();
    }

    @Tag("verification")
    @Test
    void a_holder_that_was_paused_past_its_ttl_learns_of_the_loss_before_anything_else_and_leaves_the_next_one_alone() {
        child.ask("work order:42 2000");
        eventually().until(() -> child.ask("events").contains("extended"));

        child.pause();
        LockHandle next = locks.acquire(LockRequest.of("order:42").waitTime(Duration.ofMinutes(1)));
        LockInfo granted = locks.admin().lookupById(next.lockId()).orElseThrow();
        child.resume();

        assertThat(child.ask("report"))
                .isEqualTo("interrupted LOST, extend false, join LockLostException, template LockLostException,"
                        + " states [HELD, LOST], first look LOST");
        eventually().until(() -> child.ask("events").endsWith("lost"));
        assertThat(child.ask("close")).as("after all its releases were sent").isEqualTo("closed");
        assertThat(child.ask("events")).containsOnlyOnce("lost").doesNotContain("released");
        assertThat(granted.fence().value()).isEqualTo(2);
        assertThat(locks.admin().lookupById(next.lockId()).orElseThrow().fence())
                .isEqualTo(granted.fence());
        assertThat(next.release()).isTrue();
    }

    @Test
    void the_lock_of_a_killed_holder_is_granted_one_second_after_its_ttl_and_not_before() {
        String handedOver = child.ask("acquire order:43 60000");
        child.ask("acquire order:42 900");
        child.kill();
        eventually().until(() -> sessionsOfChild() == 0);
        long expired = other.jdbc()
                .queryForObject("SELECT expires_at_ms FROM syncguard_locks WHERE key = 'order:42'", Long.class);

        LockHandle next = locks.acquire(LockRequest.of("order:42").waitTime(Duration.ofMinutes(1)));

        assertThat(next.fence().value()).isEqualTo(2);
        assertThat(locks.admin().lookup("order:42").orElseThrow().acquiredAt().toEpochMilli() - expired)
                .as("milliseconds since the end of the lease")
                .isBetween(LockBackend.TOLERANCE_MILLIS, LockBackend.TOLERANCE_MILLIS + 10_000);
        assertThat(next.release()).isTrue();
        assertThat(locks.extend(handedOver, Duration.ofMinutes(1)))
                .as("the other lock of the killed holder")
                .isPresent();
        assertThat(locks.release(handedOver)).isTrue();
    }

    private int sessionsOfChild() {
        return other.jdbc()
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?", Integer.class, CHILD);
    }
}
