package io.syncguard.verification.stress;

import io.syncguard.testing.PostgresProxy;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The faults in PostgreSQL and on the way to it. Records each change of a lease or its rows.
 */
final class PostgresFaults {

    /** The name of the test's sessions, which the faults must not terminate. */
    static final String APPLICATION_NAME = "stress";

    private static final String CLIENT = "faults";
    private static final long MILLI = 1_000_000;
    private static final long STALLED_TTL_MILLIS = 600;

    private static final String TERMINATE = """
            SELECT pg_terminate_backend(pid) FROM (
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> ?
                ORDER BY random() LIMIT 1) AS victim
            """;

    /** Exclusive and shared leases. */
    private static final String LEASES = """
            (SELECT key, lock_id, acquired_at_ms, expires_at_ms, 'syncguard_locks' AS table_name FROM syncguard_locks
            UNION ALL SELECT key, lock_id, acquired_at_ms, expires_at_ms, 'syncguard_locks_shared'
            FROM syncguard_locks_shared) AS leases
            """;

    private static final String ANY_LEASE =
            "SELECT key, lock_id, table_name FROM " + LEASES + " ORDER BY key LIKE 'hot%' DESC, random() LIMIT 1";

    /** A lease shortly before its end, but not of a hand-over: its holder may not have received it yet. */
    private static final String ENDING_LEASE =
            "SELECT key, lock_id, expires_at_ms + 1000 - syncguard_locks_now() AS left_ms FROM " + LEASES + """
            WHERE expires_at_ms BETWEEN syncguard_locks_now() - 950 AND syncguard_locks_now() - 300
                AND expires_at_ms - acquired_at_ms <> ALL (?)
            ORDER BY key LIKE 'hot%' DESC, random() LIMIT 1
            """;

    /** The server's clock. It does not use the library's function, because it checks that one. */
    private static final String CLOCK = """
            SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT
            """;

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transactions;
    private final PostgresProxy proxy;
    private final HistoryRecorder recorder;
    private final Random random;

    PostgresFaults(
            JdbcTemplate jdbc,
            TransactionTemplate transactions,
            PostgresProxy proxy,
            HistoryRecorder recorder,
            Random random) {
        this.jdbc = jdbc;
        this.transactions = transactions;
        this.proxy = proxy;
        this.recorder = recorder;
        this.random = random;
    }

    /** Injects a random fault. */
    void any() {
        int what = random.nextInt(100);
        if (what < 8) {
            jdbc.queryForList(TERMINATE, APPLICATION_NAME);
        } else if (what < 20) {
            loseReplies();
        } else if (what < 35) {
            endLease();
        } else if (what < 55) {
            pinLease();
        } else if (what < 75) {
            lockSerialisingRow();
        } else {
            stallExtension();
        }
    }

    /** Deletes the rows that lapsed more than two seconds ago, as the library does. */
    void sweep() {
        List<String> keys = jdbc.queryForList(
                "SELECT DISTINCT key FROM " + LEASES + " WHERE expires_at_ms < syncguard_locks_now() - 2000 LIMIT 200",
                String.class);
        List<HistoryEvent> sweeps = keys.stream()
                .map(key -> recorder.begin(Kind.SWEPT, CLIENT, key, ""))
                .toList();
        if (!keys.isEmpty()) {
            jdbc.queryForList("SELECT syncguard_locks_sweep(?)", (Object) keys.toArray(String[]::new));
        }
        sweeps.forEach(sweep -> recorder.write(sweep.answered(System.nanoTime(), Outcome.OK)));
    }

    /** Deletes idle counters, as the library does after days if fences come from the clock. */
    void forget() {
        jdbc.queryForObject("SELECT syncguard_locks_forget('', 0)", String.class);
    }

    /** Loses the answers of requests that have arrived, and breaks the connections. */
    private void loseReplies() {
        proxy.fallSilent();
        pause(1, 20);
        proxy.speakAgain();
    }

    /** Ends a lease, as an administrator does if the holder is stuck. */
    private void endLease() {
        jdbc.queryForList(ANY_LEASE).forEach(lease -> {
            HistoryEvent ended = begin(Kind.ENDED, lease);
            String statement = random.nextBoolean()
                    ? "DELETE FROM " + lease.get("table_name")
                    : "UPDATE " + lease.get("table_name") + " SET expires_at_ms = syncguard_locks_now() - 1000";
            // Only a live lease: after a lapse, its waiter may be in the queue again.
            String live = " WHERE lock_id = ? AND expires_at_ms > syncguard_locks_now() - 1000";
            if (jdbc.update(statement + live, lease.get("lock_id")) == 1) {
                recorder.write(ended.answered(System.nanoTime(), Outcome.OK));
            }
        });
    }

    /** Pins a lease, as a guarded commit does or as a transaction that reads and waits. */
    private void pinLease() {
        jdbc.queryForList(ANY_LEASE).forEach(lease -> {
            HistoryEvent pinning = begin(Kind.PINNING, lease);
            transactions.executeWithoutResult(status -> {
                String strength = random.nextBoolean() ? "FOR KEY SHARE" : "FOR UPDATE";
                boolean found = !jdbc.queryForList(
                                "SELECT key FROM " + lease.get("table_name") + " WHERE lock_id = ? " + strength,
                                lease.get("lock_id"))
                        .isEmpty();
                HistoryEvent pinned = begin(Kind.PINNED, lease);
                if (found) {
                    pause(10, 250);
                    recorder.write(pinned.answered(System.nanoTime(), Outcome.OK));
                }
                status.setRollbackOnly();
            });
            recorder.write(pinning.answered(System.nanoTime(), Outcome.OK));
        });
    }

    /** Locks the serialising row of a free key, so that each acquire request waits for it. Spares cold keys. */
    private void lockSerialisingRow() {
        for (int i = 0; i < 10; i++) {
            String key = StressClient.randomKey(random);
            boolean done = !key.startsWith("cold")
                    && Boolean.TRUE.equals(transactions.execute(status -> {
                        status.setRollbackOnly();
                        return lockSerialisingRow(key);
                    }));
            if (done) {
                return;
            }
        }
    }

    private boolean lockSerialisingRow(String key) {
        // With fences from the clock, the counter is deleted while the key is free.
        jdbc.update(
                "INSERT INTO syncguard_fence_counters (fence_key) VALUES (?) ON CONFLICT DO NOTHING", "fence:" + key);
        boolean exists = !jdbc.queryForList(
                        "SELECT fence FROM syncguard_fence_counters WHERE fence_key = ? FOR UPDATE", "fence:" + key)
                .isEmpty();
        HistoryEvent locked = recorder.begin(Kind.SERIALISED, CLIENT, key, "");
        boolean free = jdbc.queryForList("SELECT key FROM " + LEASES + " WHERE key = ?", key)
                .isEmpty();
        if (!exists || !free) {
            return false;
        }
        pause(20, 120);
        long now = jdbc.queryForObject(CLOCK, Long.class);
        recorder.write(locked.answered(System.nanoTime(), Outcome.OK).with(new Lease(0, 0, now, 0, false)));
        return true;
    }

    /** Extends a lease shortly before its end, and commits after the old end. */
    private void stallExtension() {
        Long[] firstLeases =
                WorkerFleet.WAITER_TTLS.stream().map(Duration::toMillis).toArray(Long[]::new);
        jdbc.queryForList(ENDING_LEASE, (Object) firstLeases).forEach(lease -> {
            HistoryEvent asked = begin(Kind.EXTEND, lease).with(Lease.ofTtl(STALLED_TTL_MILLIS));
            recorder.write(asked);
            Map<String, Object> answer = transactions.execute(status -> {
                Map<String, Object> extended = jdbc.queryForMap(
                        "SELECT outcome, extended_until_ms FROM syncguard_locks_extend(ARRAY[?], ARRAY[?::bigint])",
                        lease.get("lock_id"),
                        STALLED_TTL_MILLIS);
                LockSupport.parkNanos(((Number) lease.get("left_ms")).longValue() * MILLI + 60 * MILLI);
                return extended;
            });
            recorder.write(extended(asked, answer));
        });
    }

    private static HistoryEvent extended(HistoryEvent asked, Map<String, Object> answer) {
        long now = System.nanoTime();
        return switch ((String) answer.get("outcome")) {
            case "extended" ->
                asked.answered(now, Outcome.OK)
                        .with(Lease.extended(
                                STALLED_TTL_MILLIS, ((Number) answer.get("extended_until_ms")).longValue()));
            case "busy" -> asked.answered(now, Outcome.BUSY);
            default -> asked.answered(now, Outcome.NOT_HELD);
        };
    }

    private HistoryEvent begin(Kind kind, Map<String, Object> lease) {
        return recorder.begin(
                kind, CLIENT, (String) lease.get("key"), HistoryRecorder.hash((String) lease.get("lock_id")));
    }

    private void pause(int least, int most) {
        LockSupport.parkNanos((least + random.nextInt(most - least)) * MILLI);
    }
}
