package io.syncguard.sample;

import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Leases of another process, which are written into the table because a test has no time for their grants. */
final class LocksOfOthers implements AutoCloseable {

    private static final String PREFIX = "a-lock-of-another-process:";

    private final JdbcTemplate database;

    LocksOfOthers(DataSource database, int number) {
        this.database = new JdbcTemplate(database);
        this.database.update("""
                INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key, owner)
                SELECT ? || i, 'other' || i, syncguard_locks_now() + 300000, syncguard_locks_now(),
                    syncguard_locks_fence_text(i), ? || i, 'another@1@hamburg'
                FROM generate_series(1, ?) AS i
                """, PREFIX, PREFIX, number);
    }

    /** The first key in the list. */
    String first() {
        return PREFIX + 1;
    }

    @Override
    public void close() {
        database.update("DELETE FROM syncguard_locks WHERE owner = 'another@1@hamburg'");
    }
}
