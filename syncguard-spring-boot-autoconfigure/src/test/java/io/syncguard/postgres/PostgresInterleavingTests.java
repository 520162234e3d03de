package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.Attempt;
import io.syncguard.core.Claim;
import io.syncguard.core.ExtendOutcome;
import io.syncguard.core.Extension;
import io.syncguard.core.LockBackend;
import io.syncguard.core.ReleaseOutcome;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Races that are forced: another session holds a row, and does its part while an operation waits for it or meets it. */
class PostgresInterleavingTests {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final String MINE = "mine------------------";
    private static final String THEIRS = "theirs----------------";

    private final HikariDataSource dataSource = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private LockBackend backend;
    private Connection other;

    @BeforeEach
    void open() throws SQLException {
        dataSource.setJdbcUrl(PostgresServer.newDatabaseUrl());
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
        backend = new PostgresLockBackend(
                dataSource,
                dataSource,
                new PostgresSettings(PostgresTables.DEFAULT, Duration.ofSeconds(5), Duration.ZERO, false),
                dataSource::close);
        other = dataSource.getConnection();
        other.setAutoCommit(false);
    }

    @AfterEach
    void close() throws SQLException {
        other.rollback();
        other.close();
        backend.close();
    }

    @Test
    void a_release_that_meets_a_takeover_leaves_the_next_holders_lease_alone() throws Exception {
        backend.acquire(claim(MINE));
        inOther("SELECT FROM syncguard_fence_counters FOR UPDATE");
        Future<ReleaseOutcome> release = CompletableFuture.supplyAsync(() -> backend.release(MINE));
        awaitBlocked();

        inOther("UPDATE syncguard_locks SET lock_id = '" + THEIRS + "'");
        other.commit();

        assertThat(release.get()).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(backend.lookupById(THEIRS)).isPresent();
    }

    @Test
    void a_grant_that_waited_for_its_row_has_its_whole_ttl() throws Exception {
        backend.acquire(claim(THEIRS));
        backend.release(THEIRS);
        inOther("SELECT FROM syncguard_fence_counters FOR UPDATE");
        Future<Attempt> attempt = CompletableFuture.supplyAsync(() -> backend.acquire(claim(MINE)));
        awaitBlocked();

        inOther("SELECT pg_sleep(1)");
        long won = serverMillis();
        other.commit();

        assertThat(attempt.get())
                .isInstanceOfSatisfying(
                        Attempt.Grant.class,
                        grant -> assertThat(grant.expiresAt().toEpochMilli())
                                .isGreaterThanOrEqualTo(won + TTL.toMillis()));
    }

    @Test
    void an_acquire_that_waited_for_its_row_sees_what_was_granted_meanwhile_and_draws_no_fence() throws Exception {
        backend.acquire(claim(THEIRS));
        backend.release(THEIRS);
        inOther("SELECT FROM syncguard_fence_counters FOR UPDATE");
        Future<Attempt> attempt = CompletableFuture.supplyAsync(() -> backend.acquire(claim(MINE)));
        awaitBlocked();

        inOther("INSERT INTO syncguard_locks VALUES ('k', '" + THEIRS
                + "', syncguard_locks_now() + 30000, syncguard_locks_now(), '000000000000001', 'k', 'other')");
        other.commit();

        assertThat(attempt.get()).isInstanceOf(Attempt.Refusal.class);
        assertThat(jdbc.queryForObject("SELECT fence FROM syncguard_fence_counters", Long.class))
                .isEqualTo(1);
    }

    @Test
    void a_lapsed_lease_that_somebody_pins_is_refused_for_a_moment() throws Exception {
        backend.acquire(claim(THEIRS));
        jdbc.update("UPDATE syncguard_locks SET expires_at_ms = syncguard_locks_now() - 1000");
        inOther("SELECT FROM syncguard_locks FOR KEY SHARE");

        assertThat(backend.acquire(claim(MINE)))
                .isInstanceOfSatisfying(
                        Attempt.Refusal.class,
                        refusal -> assertThat(refusal.timeLeft())
                                .isBetween(Duration.ofMillis(50), Duration.ofMillis(100)));

        other.commit();
        assertThat(backend.acquire(claim(MINE)))
                .isInstanceOfSatisfying(
                        Attempt.Grant.class,
                        grant -> assertThat(grant.fence().value()).isEqualTo(2));
    }

    @Test
    void a_heartbeat_passes_a_guarded_commit_and_a_release_does_not() throws Exception {
        backend.acquire(claim(MINE));
        inOther("SELECT FROM syncguard_locks FOR KEY SHARE");

        assertThat(extend(MINE)).isInstanceOf(ExtendOutcome.Extended.class);
        assertThat(backend.release(MINE)).isEqualTo(ReleaseOutcome.BUSY);

        other.commit();
        assertThat(backend.release(MINE)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void a_row_that_is_locked_does_not_hold_up_the_others_and_is_not_lost() throws Exception {
        backend.acquire(claim(MINE));
        backend.acquire(new Claim("another", THEIRS, TTL, "test"));
        inOther("SELECT FROM syncguard_locks WHERE key = 'k' FOR UPDATE");

        List<ExtendOutcome> outcomes = backend.extend(List.of(new Extension(MINE, TTL), new Extension(THEIRS, TTL)));

        assertThat(outcomes.get(0)).isInstanceOf(ExtendOutcome.Busy.class);
        assertThat(outcomes.get(1)).isInstanceOf(ExtendOutcome.Extended.class);
    }

    @Test
    void the_last_fence_is_granted_and_after_it_nothing_is_acquired_or_advanced() {
        backend.acquire(claim(MINE));
        backend.release(MINE);
        jdbc.update("UPDATE syncguard_fence_counters SET fence = 899999999999999");

        assertThat(backend.acquire(claim(MINE)))
                .isInstanceOfSatisfying(
                        Attempt.Grant.class, grant -> assertThat(grant.fence()).hasToString("900000000000000"));
        backend.release(MINE);
        assertThatThrownBy(() -> backend.acquire(claim(MINE))).hasMessageContaining("no fences left");

        assertThat(backend.isLocked("k")).isFalse();
        assertThat(jdbc.queryForObject("SELECT fence FROM syncguard_fence_counters", Long.class))
                .isEqualTo(900_000_000_000_000L);
    }

    private static Claim claim(String lockId) {
        return new Claim("k", lockId, TTL, "test");
    }

    private ExtendOutcome extend(String lockId) {
        return backend.extend(List.of(new Extension(lockId, TTL))).get(0);
    }

    private void inOther(String sql) throws SQLException {
        try (Statement statement = other.createStatement()) {
            statement.execute(sql);
        }
    }

    private void awaitBlocked() {
        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> jdbc.queryForObject("""
                        SELECT EXISTS (
                            SELECT FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock')
                        """, Boolean.class));
    }

    private long serverMillis() {
        return jdbc.queryForObject("SELECT syncguard_locks_now()", Long.class);
    }
}
