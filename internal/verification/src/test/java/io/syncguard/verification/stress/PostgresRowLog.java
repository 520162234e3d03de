package io.syncguard.verification.stress;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Writes each change of the tables of the locks, in the transaction that makes it. For tests only. */
final class PostgresRowLog {

    /**
     * All rows of a key but those that are only extended or renewed change under its serialising row, so the sequence
     * has them in their order. An extension has its row locked, which orders it and all other changes of that row. A
     * row that gets another lock id counts as deleted and inserted.
     */
    private static final String TRIGGERS = """
            CREATE TABLE row_log (
                position BIGSERIAL, transaction BIGINT, now_ms BIGINT, kind TEXT, operation TEXT, key TEXT,
                lock_id TEXT, shared BOOLEAN, arrival BIGINT, expires_at_ms BIGINT, fence BIGINT);
            CREATE FUNCTION log_row() RETURNS TRIGGER LANGUAGE plpgsql AS $function$
            DECLARE
                v_old JSONB := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
                v_new JSONB := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
                v_handed_over BOOLEAN := TG_OP = 'UPDATE' AND v_old->>'lock_id' <> v_new->>'lock_id';
            BEGIN
                INSERT INTO row_log
                    (transaction, now_ms, kind, operation, key, lock_id, shared, arrival, expires_at_ms, fence)
                SELECT txid_current(),
                    CASE WHEN TG_ARGV[0] = 'E' AND TG_OP = 'UPDATE'
                        THEN (v_new->>'expires_at_ms')::BIGINT - (v_new->>'ttl_ms')::BIGINT
                        ELSE syncguard_locks_now() END,
                    TG_ARGV[0], c.operation,
                    coalesce(c.line->>'key', c.line->>'key_debug'), coalesce(c.line->>'lock_id', ''),
                    coalesce((c.line->>'shared')::BOOLEAN, TG_TABLE_NAME = 'syncguard_locks_shared'),
                    coalesce((c.line->>'arrival')::BIGINT, 0), coalesce((c.line->>'expires_at_ms')::BIGINT, 0),
                    (c.line->>'fence')::BIGINT
                FROM (VALUES
                    (1, CASE WHEN v_handed_over THEN 'DELETE' END, v_old),
                    (2, CASE WHEN v_handed_over THEN 'INSERT' ELSE TG_OP END, coalesce(v_new, v_old))
                ) AS c (number, operation, line)
                WHERE c.operation IS NOT NULL ORDER BY c.number;
                RETURN NULL;
            END
            $function$;
            CREATE TRIGGER log_row AFTER INSERT OR UPDATE OR DELETE ON syncguard_locks
            FOR EACH ROW EXECUTE FUNCTION log_row('L');
            CREATE TRIGGER log_row AFTER INSERT OR UPDATE OR DELETE ON syncguard_locks_shared
            FOR EACH ROW EXECUTE FUNCTION log_row('L');
            CREATE TRIGGER log_row AFTER INSERT OR UPDATE OR DELETE ON syncguard_locks_waiters
            FOR EACH ROW EXECUTE FUNCTION log_row('E');
            CREATE TRIGGER log_row AFTER INSERT OR UPDATE OR DELETE ON syncguard_fence_counters
            FOR EACH ROW EXECUTE FUNCTION log_row('C');
            """;

    /**
     * The changes of a transaction stand together, where its first one is. An extension or a renewal waits for nothing
     * but its own row: it may come after the first change of a transaction that changes this row later, and then
     * stands before it. A renewal also stands before what is younger than its look at the clock: on a busy machine, the
     * entry lapses between the look and the update.
     */
    private static final String IN_ORDER = """
            WITH change AS (
                SELECT *, min(position) OVER own AS first,
                    bool_and(kind <> 'C' AND operation = 'UPDATE') OVER own AS alone,
                    lag(position) OVER (PARTITION BY kind, lock_id ORDER BY position) AS before
                FROM row_log WHERE key = ?
                WINDOW own AS (PARTITION BY transaction)
            )
            SELECT *, CASE WHEN alone THEN least(position, (
                    SELECT min(other.first) FROM change other
                    WHERE other.kind = change.kind AND other.lock_id = change.lock_id
                      AND other.position > change.position
                ), (
                    SELECT min(other.first) FROM change other
                    WHERE change.kind = 'E' AND other.now_ms > change.now_ms AND other.first > change.before))
                ELSE first END AS place
            FROM change ORDER BY place, NOT alone, position
            """;

    private final JdbcTemplate jdbc;

    PostgresRowLog(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        jdbc.execute(TRIGGERS);
    }

    /** The changes of each of these keys, in their order; those of one transaction together. */
    List<List<RowChange>> ofBusiestKeys(int limit) {
        return jdbc
                .queryForList(
                        "SELECT key FROM row_log GROUP BY key ORDER BY count(*) DESC, key LIMIT ?", String.class, limit)
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
                        row.getString("key"),
                        row.getString("lock_id"),
                        row.getBoolean("shared"),
                        row.getLong("arrival"),
                        row.getLong("expires_at_ms"),
                        row.getLong("fence")),
                key);
    }
}
