package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/** Faults of a PostgreSQL server and of its administrators. */
final class PostgresServerFaults {

    private static final String SESSIONS = "SELECT pid FROM pg_stat_activity WHERE usename = '" + PostgresSite.USER
            + "' AND backend_type = 'client backend'";

    private static final Duration POLL = Duration.ofMillis(1);

    private final PostgresSite site;
    private final OwnPostgres server;
    private final JdbcTemplate jdbc;

    PostgresServerFaults(PostgresSite site) {
        this.site = site;
        this.server = site.server();
        this.jdbc = site.applications();
    }

    List<Fault> all() {
        return List.of(
                Fault.crash(3, "the server is killed and started again", this::restart)
                        .everyNth(2),
                Fault.of(3, "the server stands still", this::freeze).everyNth(2),
                Fault.of(
                        13,
                        "statements are cancelled",
                        random -> onSomeSessions("pg_cancel_backend", "state = 'active'")),
                Fault.of(14, "sessions are terminated", random -> onSomeSessions("pg_terminate_backend", "true")),
                Fault.of(
                        14,
                        "the session for wake-ups is terminated",
                        random -> onSomeSessions("pg_terminate_backend", "query ILIKE 'LISTEN%'")),
                Fault.of(18, "the schema script runs again", random -> runScript()),
                Fault.of(
                        18,
                        "VACUUM FULL of a table of the locks",
                        random -> jdbc.execute("VACUUM FULL " + any(random))),
                Fault.of(18, "a table of the locks is locked by a change of its schema", this::lockTable)
                        .everyNth(2),
                // A server that does not stop in time is killed.
                Fault.crash(19, "the server is in recovery, and read-only", this::recover)
                        .everyNth(4));
    }

    /** The faults behind a pooler, which survives them. */
    List<Fault> behindPooler() {
        return List.of(
                Fault.crash(17, "the server is killed and started again, behind a pooler", this::restart)
                        .everyNth(4),
                Fault.of(
                        17,
                        "the pooler's sessions are terminated",
                        random -> onSomeSessions("pg_terminate_backend", "true")));
    }

    /** @param disk that of the site */
    Fault fullDisk(SmallDisk disk) {
        return Fault.of(19, "the disk with the locks is full", random -> fill(disk, random));
    }

    /** Conditions that affect every statement of the site from the start. */
    static List<Fault> standing(PostgresSite site) {
        List<Connection> snapshots = OldSnapshots.open(site.server());
        return List.of(
                Fault.of(
                        11,
                        "an idle transaction and a repeatable-read reader are open all the time",
                        random -> OldSnapshots.requireOpen(snapshots)),
                Fault.of(
                        12,
                        "the role's default isolation is SERIALIZABLE, and locks of several keys cross",
                        random -> {}),
                Fault.of(13, "the role's statement_timeout and lock_timeout are 50 ms", random -> {}));
    }

    /** The first call moves the table to the disk. */
    private void fill(SmallDisk disk, Random random) {
        jdbc.execute("ALTER TABLE syncguard_locks SET TABLESPACE " + PostgresSite.TABLESPACE);
        disk.fillDuring(
                // Without an old snapshot, dead row versions would leave room on the pages that the table has.
                () -> OldSnapshots.during(server, () -> LinkFaults.pause(random, 300, 1500)));
    }

    private void restart(Random random) {
        server.kill();
        LinkFaults.pause(random, 1, 300);
        server.start();
        awaitServer();
    }

    private void freeze(Random random) {
        Runnable resume = server.freeze();
        LinkFaults.pause(random, 100, 1800);
        resume.run();
    }

    private void recover(Random random) {
        server.stop();
        server.startAsStandby();
        LinkFaults.pause(random, 300, 1500);
        server.promote();
        awaitServer();
    }

    private void awaitServer() {
        Awaitility.await("the server")
                .ignoreExceptions()
                .until(() -> Boolean.FALSE.equals(jdbc.queryForObject("SELECT pg_is_in_recovery()", Boolean.class)));
    }

    /** Hits each session with a chance of one third, and repeats until at least one was hit. */
    private void onSomeSessions(String function, String condition) {
        Awaitility.await("a session with " + condition)
                .pollInterval(POLL)
                .until(() -> !jdbc.queryForList("SELECT " + function + "(pid) FROM (" + SESSIONS + " AND " + condition
                                + ") AS sessions WHERE random() < 0.34")
                        .isEmpty());
    }

    /** Runs the file that the library has written, in one transaction, as an administrator does. */
    private void runScript() throws IOException {
        jdbc.execute(
                "BEGIN; SET LOCAL ROLE " + PostgresSite.USER + ";\n" + Files.readString(site.script()) + "\nCOMMIT");
    }

    private void lockTable(Random random) {
        jdbc.execute((ConnectionCallback<Void>) connection -> {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("LOCK TABLE " + any(random) + " IN ACCESS EXCLUSIVE MODE");
                LinkFaults.pause(random, 50, 1500);
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
            return null;
        });
    }

    private static String any(Random random) {
        return List.of(
                        "syncguard_locks",
                        "syncguard_locks_shared",
                        "syncguard_locks_waiters",
                        "syncguard_fence_counters")
                .get(random.nextInt(4));
    }
}
