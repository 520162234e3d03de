package io.syncguard.autoconfigure;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** A trigger on the table of the locks that records who changes it, and under which settings the change commits. */
public final class LockAudit {

    private final JdbcTemplate jdbc;

    public LockAudit(TestDatabase database) {
        this.jdbc = database.jdbc();
        jdbc.execute("""
                CREATE TABLE lock_audit (
                    id BIGSERIAL, operation TEXT, lock_key TEXT, pid INTEGER, transaction_id TEXT, isolation TEXT,
                    read_only TEXT, synchronous_commit TEXT, statement_timeout TEXT, lock_timeout TEXT,
                    session_limits TEXT);
                CREATE FUNCTION lock_audit() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS $$
                BEGIN
                    INSERT INTO public.lock_audit (operation, lock_key, pid, transaction_id, isolation, read_only,
                        synchronous_commit, statement_timeout, lock_timeout, session_limits)
                    VALUES (TG_OP, coalesce(NEW.key, OLD.key), pg_backend_pid(), pg_current_xact_id()::text,
                        current_setting('transaction_isolation'), current_setting('transaction_read_only'),
                        current_setting('synchronous_commit'), current_setting('statement_timeout'),
                        current_setting('lock_timeout'),
                        'idle ' || coalesce(current_setting('idle_session_timeout', true), '0')
                            || ', transaction ' || coalesce(current_setting('transaction_timeout', true), '0'));
                    RETURN NULL;
                END
                $$;
                CREATE CONSTRAINT TRIGGER lock_audit AFTER INSERT OR UPDATE OR DELETE ON syncguard_locks
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lock_audit();
                """);
    }

    /** Returns the changes of a key in the order in which they happened. */
    public List<Entry> of(String key) {
        return jdbc.query(
                "SELECT * FROM lock_audit WHERE lock_key = ? ORDER BY id",
                (row, number) -> new Entry(
                        row.getString("operation"),
                        row.getInt("pid"),
                        row.getString("transaction_id"),
                        row.getString("isolation"),
                        row.getString("read_only"),
                        row.getString("synchronous_commit"),
                        row.getString("statement_timeout"),
                        row.getString("lock_timeout"),
                        row.getString("session_limits")),
                key);
    }

    /** One touched row. */
    public record Entry(
            String operation,
            int pid,
            String transaction,
            String isolation,
            String readOnly,
            String synchronousCommit,
            String statementTimeout,
            String lockTimeout,
            String sessionLimits) {}
}
