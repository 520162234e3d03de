package io.syncguard.verification.queue;

import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A new database with the schema. */
public final class PostgresQueueServer implements CountingQueueServer {

    private static final String END_OF_A_LISTENER = """
            SELECT pg_terminate_backend(pid) FROM (
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE 'LISTEN%' ORDER BY random() LIMIT 1) AS victim
            """;

    private static final String LOCK_IDS = """
            SELECT lock_id FROM syncguard_locks
            UNION SELECT lock_id FROM syncguard_locks_shared
            UNION SELECT lock_id FROM syncguard_locks_waiters
            """;

    private static final String COUNT_NESTED_STATEMENTS = """
            DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET pg_stat_statements.track = %L', current_database(), 'all');
            END $$
            """;

    private final String url = PostgresServer.newDatabaseUrl();
    private final DataSource dataSource = PostgresServer.dataSource(url);
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);

    public PostgresQueueServer() {
        new PostgresSchema(dataSource, PostgresTables.DEFAULT).initialize();
        jdbc.execute("CREATE EXTENSION pg_stat_statements");
        jdbc.execute(COUNT_NESTED_STATEMENTS);
    }

    public DataSource dataSource() {
        return dataSource;
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public int waiters(String key) {
        return jdbc.queryForObject("SELECT count(*) FROM syncguard_locks_waiters WHERE key = ?", Integer.class, key);
    }

    @Override
    public long requests() {
        return sum("calls", "toplevel AND query LIKE '%syncguard%' AND query NOT LIKE '%pg_stat_statements%'");
    }

    @Override
    public long wakeUps() {
        return sum("rows", "NOT toplevel AND query LIKE '%pg_notify(%'");
    }

    private long sum(String figure, String condition) {
        return jdbc.queryForObject(
                "SELECT coalesce(sum(" + figure + "), 0)::BIGINT FROM pg_stat_statements "
                        + "JOIN pg_database ON pg_database.oid = dbid AND datname = current_database() WHERE "
                        + condition,
                Long.class);
    }

    @Override
    public List<String> lockIds() {
        return jdbc.queryForList(LOCK_IDS, String.class);
    }

    @Override
    public void endListener() {
        jdbc.queryForList(END_OF_A_LISTENER);
    }

    @Override
    public void close() {
        // Other tests still use the server.
    }
}
