package io.syncguard.verification.stress;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Writes each change of the tables of the portable store, in the transaction that makes it. For tests only. */
final class MariaDbRowLog {

    /** The versions of rows have the numbers of their transactions. */
    private static final String TABLE = """
            CREATE TABLE row_log (
                position BIGINT PRIMARY KEY, now_ms BIGINT, kind CHAR(1), operation VARCHAR(6),
                lock_key VARBINARY(512), lock_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, shared BOOLEAN,
                arrival BIGINT, expires_at BIGINT, fence BIGINT,
                transaction BIGINT UNSIGNED GENERATED ALWAYS AS ROW START,
                gone BIGINT UNSIGNED GENERATED ALWAYS AS ROW END,
                PERIOD FOR SYSTEM_TIME (transaction, gone))
            WITH SYSTEM VERSIONING ENGINE = InnoDB
            """;

    /** The store decides by the time that its session read last. Faults read none. */
    private static final String TRIGGER = """
            CREATE TRIGGER log_%1$s_%2$s AFTER %2$s ON %1$s FOR EACH ROW
            INSERT INTO row_log
                (position, now_ms, kind, operation, lock_key, lock_id, shared, arrival, expires_at, fence)
            SELECT NEXTVAL(row_positions), COALESCE(@syncguard_now, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)),
                '%3$s', '%2$s', %4$s.lock_key, %5$s
            """;

    private static final String LEASE = "ROW.lock_id, ROW.mode = 'SHARED', 0, ROW.expires_at, ROW.fence";
    private static final String ENTRY = "ROW.lock_id, ROW.mode = 'SHARED', ROW.place, ROW.expires_at, 0";
    private static final String COUNTER = "'', FALSE, 0, 0, ROW.fence";

    /** {@link PostgresRowLog} orders them in the same way. */
    private static final String IN_ORDER = """
            WITH changes AS (
                SELECT *, MIN(position) OVER (PARTITION BY transaction) AS first,
                    MIN(kind <> 'C' AND operation = 'UPDATE') OVER (PARTITION BY transaction) AS alone,
                    LAG(position) OVER (PARTITION BY kind, lock_id ORDER BY position) AS earlier
                FROM row_log WHERE lock_key = ?
            )
            SELECT *, IF(alone, LEAST(position, COALESCE((
                    SELECT MIN(other.first) FROM changes other
                    WHERE other.kind = this.kind AND other.lock_id = this.lock_id AND other.position > this.position
                ), position), COALESCE((
                    SELECT MIN(other.first) FROM changes other
                    WHERE this.kind = 'E' AND other.now_ms > this.now_ms AND other.first > this.earlier
                ), position)), first) AS place
            FROM changes this ORDER BY place, NOT alone, position
            """;

    private final JdbcTemplate jdbc;

    MariaDbRowLog(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        // Its numbers lock no table, as those of a column with AUTO_INCREMENT do.
        jdbc.execute("CREATE SEQUENCE row_positions");
        jdbc.execute(TABLE);
        log("syncguard_leases", "L", LEASE, "");
        // Another process may wake a waiter, which changes nothing that the model has.
        log("syncguard_waiters", "E", ENTRY, " WHERE NEW.expires_at <> OLD.expires_at");
        log("syncguard_keys", "C", COUNTER, "");
    }

    private void log(String table, String kind, String columns, String ofUpdates) {
        for (String operation : List.of("INSERT", "UPDATE", "DELETE")) {
            String row = operation.equals("DELETE") ? "OLD" : "NEW";
            jdbc.execute(TRIGGER.formatted(table, operation, kind, row, columns.replace("ROW", row))
                    + (operation.equals("UPDATE") ? ofUpdates : ""));
        }
    }

    /** The changes of each of these keys, in their order; those of one transaction together. */
    List<List<RowChange>> ofBusiestKeys(int limit) {
        return jdbc
                .queryForList(
                        "SELECT CONVERT(lock_key USING utf8mb4) FROM row_log GROUP BY lock_key"
                                + " ORDER BY COUNT(*) DESC, lock_key LIMIT ?",
                        String.class,
                        limit)
                .stream()
                .map(this::changes)
                .toList();
    }

    private List<RowChange> changes(String key) {
        return jdbc.query(
                IN_ORDER,
                (row, number) -> new RowChange(
                        row.getLong("transaction"),
                        row.getLong("now_ms"),
                        row.getString("kind").charAt(0),
                        row.getString("operation"),
                        key,
                        row.getString("lock_id"),
                        row.getBoolean("shared"),
                        row.getLong("arrival"),
                        row.getLong("expires_at"),
                        row.getLong("fence")),
                (Object) key.getBytes(StandardCharsets.UTF_8));
    }
}
