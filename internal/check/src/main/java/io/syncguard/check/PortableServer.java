package io.syncguard.check;

import io.syncguard.LockSetupException;
import io.syncguard.check.Finding.Part;
import io.syncguard.portable.Dialect;
import io.syncguard.portable.H2Dialect;
import io.syncguard.portable.MySqlDialect;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;

/** MariaDB, MySQL or H2. */
final class PortableServer extends JdbcServer {

    private static final String ONE_PROCESS = "only one process can open this database, and the load has several";

    private static final String SEVERAL_PROCESSES = "Use an address with jdbc:h2:tcp:, or add ;AUTO_SERVER=TRUE to it";

    private final boolean h2;
    private final Dialect dialect;

    PortableServer(Login login) {
        super(login);
        this.h2 = login.url().startsWith("jdbc:h2:");
        this.dialect = h2 ? new H2Dialect() : new MySqlDialect();
    }

    @Override
    public String product() {
        return String.valueOf(jdbc().execute((ConnectionCallback<String>)
                connection -> connection.getMetaData().getDatabaseProductName() + " "
                        + connection.getMetaData().getDatabaseProductVersion()));
    }

    /** Its waiters poll. */
    @Override
    public boolean deliversWakeUps() {
        return true;
    }

    @Override
    public Times.Benchmark benchmark() {
        return h2 ? Times.Benchmark.NONE : Times.Benchmark.MARIADB;
    }

    @Override
    public long clockMillis() {
        return number("SELECT " + dialect.clock());
    }

    @Override
    public List<Finding> look() {
        List<Finding> findings = new ArrayList<>();
        findings.add(startOfTheLibrary());
        findings.addAll(
                h2
                        ? lookForOthers("SELECT DATABASE_PATH()", "SELECT NOT READONLY()")
                        : lookForOthers(
                                "SELECT CONCAT_WS(' ', @@hostname, @@port, @@server_id)",
                                "SELECT CONCAT(@@read_only) IN ('0', 'OFF')"));
        findings.add(durability());
        if (!h2) {
            findings.add(sessions());
        } else if (isOfOneProcess()) {
            findings.add(Finding.warning(Part.LOOK, "instances", ONE_PROCESS, SEVERAL_PROCESSES));
        }
        findings.add(leftovers());
        return findings;
    }

    /** The version, and whether the server is one of a cluster whose servers do not see each other's locks. */
    private Finding startOfTheLibrary() {
        return Objects.requireNonNull(jdbc().execute((ConnectionCallback<Finding>) connection -> {
            try {
                dialect.check(connection);
                return Finding.holds(Part.LOOK, "version", product());
            } catch (LockSetupException ex) {
                return Finding.broken(
                        Part.LOOK, "the library starts", ex.problem(), String.join("; or ", ex.nextSteps()));
            }
        }));
    }

    private Finding durability() {
        if (h2) {
            return login().url().matches("jdbc:h2:.*\\bmem:.*")
                    ? Finding.warning(
                            Part.LOOK, "durable grants", "the database is in memory: a restart forgets all", "")
                    : Finding.warning(
                            Part.LOOK,
                            "durable grants",
                            "H2 writes half a second later: a crash forgets the last grants",
                            "Use another database where a crash must not free keys");
        }
        String late = value("SELECT CASE WHEN @@innodb_flush_log_at_trx_commit NOT IN (1, 3)"
                + " THEN CONCAT('innodb_flush_log_at_trx_commit is ', @@innodb_flush_log_at_trx_commit)"
                + " WHEN @@log_bin AND @@sync_binlog <> 1 THEN CONCAT('sync_binlog is ', @@sync_binlog) ELSE '' END");
        if (!late.isEmpty()) {
            return Finding.broken(
                    Part.LOOK,
                    "durable grants",
                    late + ": after a crash, locks of the last second are free, and their fences are given again",
                    "Set innodb_flush_log_at_trx_commit = 1 and sync_binlog = 1");
        }
        return Finding.holds(Part.LOOK, "durable grants", "each commit is on the disk before its answer");
    }

    private Finding sessions() {
        return Finding.holds(Part.LOOK, "sessions", "at most " + value("SELECT @@max_connections") + " connections");
    }

    private Finding leftovers() {
        List<String> left = texts("SELECT table_name FROM information_schema.tables WHERE LOWER(table_name) LIKE"
                + " 'syncguard\\_check\\_%'");
        return left.isEmpty()
                ? Finding.holds(Part.LOOK, "leftovers", "no earlier check left anything")
                : Finding.warning(
                                Part.LOOK,
                                "leftovers",
                                "an earlier check was killed, or one is running",
                                "If none is running, drop these tables")
                        .with(left);
    }

    private boolean isOfOneProcess() {
        return h2 && !login().url().matches("(?i)jdbc:h2:(tcp|ssl):.*|.*;AUTO_SERVER=TRUE.*");
    }

    /** Ends a session that runs a statement with this name. The sessions of MariaDB have no names of their own. */
    boolean endSession(String name) {
        if (h2) {
            return false;
        }
        try {
            List<String> running = texts(
                    "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND info LIKE ?"
                            + " LIMIT 1",
                    "%" + name + "%");
            running.forEach(id -> jdbc().execute("KILL CONNECTION " + id));
            return !running.isEmpty();
        } catch (DataAccessException ex) {
            // The session has ended, or the right is missing.
            return false;
        }
    }

    @Override
    public String rightsOfAreas() {
        return h2
                ? value("SELECT 'GRANT ALTER ANY SCHEMA TO \"' || CURRENT_USER || '\"'")
                : value("SELECT CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON `', DATABASE(),"
                        + " '`.* TO ', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@',"
                        + " QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))");
    }

    @Override
    public Area newArea() {
        if (isOfOneProcess()) {
            throw new IllegalStateException(ONE_PROCESS + ". " + SEVERAL_PROCESSES);
        }
        return new PortableArea(this, dialect, h2 ? 9092 : 3306, Check.newName());
    }
}
