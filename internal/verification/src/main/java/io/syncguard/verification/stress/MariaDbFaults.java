package io.syncguard.verification.stress;

import io.syncguard.testing.ServerProxy;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.StressStore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/** The faults in MariaDB and on the way to it, on one connection. Records each change of a lease. */
final class MariaDbFaults {

    private static final String CLIENT = "faults";
    private static final long MILLI = 1_000_000;

    private static final String ANY_SESSION = """
            SELECT id FROM information_schema.processlist
            WHERE db = DATABASE() AND id <> CONNECTION_ID() ORDER BY RAND() LIMIT 1
            """;

    private static final String CLOCK = "SELECT FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transactions;
    private final StressStore store;
    private final ServerProxy proxy;
    private final HistoryRecorder recorder;
    private final Random random;

    MariaDbFaults(
            JdbcTemplate jdbc,
            TransactionTemplate transactions,
            StressStore store,
            ServerProxy proxy,
            HistoryRecorder recorder,
            Random random) {
        this.jdbc = jdbc;
        this.transactions = transactions;
        this.store = store;
        this.proxy = proxy;
        this.recorder = recorder;
        this.random = random;
    }

    /** Injects a random fault. */
    void any() {
        int what = random.nextInt(100);
        if (what < 8) {
            // It may end by itself meanwhile.
            jdbc.queryForList(ANY_SESSION, Long.class).forEach(id -> jdbc.execute("KILL SOFT CONNECTION " + id));
        } else if (what < 20) {
            proxy.fallSilent();
            pause(1, 20);
            proxy.speakAgain();
        } else if (what < 40) {
            endLease();
        } else {
            lockSerialisingRow();
        }
    }

    /** Ends a live lease, as an administrator does if the holder is stuck. */
    private void endLease() {
        List<StressStore.Live> live = store.liveLeases();
        if (live.isEmpty()) {
            return;
        }
        StressStore.Known lock = live.get(random.nextInt(live.size())).lock();
        HistoryEvent ended = recorder.begin(Kind.ENDED, CLIENT, lock.key(), HistoryRecorder.hash(lock.lockId()));
        String statement = random.nextBoolean()
                ? "DELETE FROM syncguard_leases"
                : "UPDATE syncguard_leases SET expires_at = FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000) - 1000";
        boolean done = Boolean.TRUE.equals(transactions.execute(status -> {
            lockKey(lock.key());
            return jdbc.update(
                            statement
                                    + " WHERE lock_id = ? AND expires_at > FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000) - 1000",
                            lock.lockId())
                    == 1;
        }));
        if (done) {
            recorder.write(ended.answered(System.nanoTime(), Outcome.OK));
        }
    }

    /** Locks the row of a free key, so that each acquire request waits for it. Spares cold keys. */
    private void lockSerialisingRow() {
        String key = StressClient.randomKey(random);
        if (key.startsWith("cold")) {
            return;
        }
        transactions.executeWithoutResult(status -> {
            status.setRollbackOnly();
            boolean exists = !lockKey(key).isEmpty();
            HistoryEvent locked = recorder.begin(Kind.SERIALISED, CLIENT, key, "");
            boolean free = jdbc.queryForList("SELECT lock_id FROM syncguard_leases WHERE lock_key = ?", bytes(key))
                    .isEmpty();
            if (exists && free) {
                pause(20, 120);
                long now = jdbc.queryForObject(CLOCK, Long.class);
                recorder.write(locked.answered(System.nanoTime(), Outcome.OK).with(new Lease(0, 0, now, 0, false)));
            }
        });
    }

    private List<Long> lockKey(String key) {
        return jdbc.queryForList(
                "SELECT fence FROM syncguard_keys WHERE lock_key = ? FOR UPDATE", Long.class, bytes(key));
    }

    private static Object bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    private void pause(int least, int most) {
        LockSupport.parkNanos((least + random.nextInt(most - least)) * MILLI);
    }
}
