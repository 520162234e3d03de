package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnMariaDb;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Faults of a MariaDB server and of its administrators. */
final class MariaDbServerFaults {

    private static final String SOME_SESSIONS = """
            SELECT id FROM information_schema.processlist
            WHERE db = DATABASE() AND id <> CONNECTION_ID() AND RAND() < 0.34
            """;

    /** A lease of a key that nobody uses. Its place in the index is as random as that of others. */
    private static final String FILLER = """
            INSERT INTO syncguard_leases VALUES (TO_BASE64(RANDOM_BYTES(16)), 'filler', 'SHARED', 'filler', 1,
                FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000), 0, NULL, 0)
            """;

    private static final int TABLE_FULL = 1114;

    /** After so many refused rows, few pages have room for another one. */
    private static final int REFUSED = 100;

    private final OwnMariaDb server;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transactions;

    MariaDbServerFaults(MariaDbSite site) {
        this.server = site.server();
        this.jdbc = site.locks();
        this.transactions = new TransactionTemplate(new JdbcTransactionManager(jdbc.getDataSource()));
    }

    List<Fault> all() {
        return List.of(
                Fault.crash(3, "the server is killed and started again", this::restart)
                        .everyNth(2),
                Fault.of(3, "the server stands still", this::freeze).everyNth(2),
                Fault.of(13, "statements are cancelled", random -> onSomeSessions("KILL QUERY ")),
                Fault.of(14, "sessions are terminated", random -> onSomeSessions("KILL CONNECTION ")));
    }

    /** @param disk that of the site */
    Fault fullDisk(SmallDisk disk) {
        return Fault.of(19, "the disk with the locks is full", random -> fill(disk, random));
    }

    private void fill(SmallDisk disk, Random random) {
        // Its snapshot keeps deleted rows, and its own rows fill the pages that the table already has.
        disk.fillDuring(() -> transactions.executeWithoutResult(status -> {
            status.setRollbackOnly();
            jdbc.queryForList("SELECT lock_id FROM syncguard_leases LIMIT 1");
            for (int refused = 0; refused < REFUSED; ) {
                refused += inserts() ? 0 : 1;
            }
            LinkFaults.pause(random, 300, 1500);
        }));
    }

    /** Inserts a lease of a key that nobody uses. Returns whether there was room. */
    private boolean inserts() {
        try {
            jdbc.update(FILLER);
            return true;
        } catch (DataAccessException ex) {
            if (NestedExceptionUtils.getMostSpecificCause(ex) instanceof SQLException full
                    && full.getErrorCode() == TABLE_FULL) {
                return false;
            }
            throw ex;
        }
    }

    private void restart(Random random) {
        server.kill();
        LinkFaults.pause(random, 1, 300);
        server.start();
    }

    private void freeze(Random random) {
        Runnable resume = server.freeze();
        LinkFaults.pause(random, 100, 1800);
        resume.run();
    }

    /** Hits each session with a chance of one third, and repeats until at least one was hit. */
    private void onSomeSessions(String what) {
        Awaitility.await("a session").ignoreExceptions().until(() -> {
            List<Long> sessions = jdbc.queryForList(SOME_SESSIONS, Long.class);
            sessions.forEach(session -> jdbc.execute(what + session));
            return !sessions.isEmpty();
        });
    }
}
