package io.syncguard.benchmarks;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A durable PostgreSQL with several databases, and its counters. */
final class PostgresServer implements Server {

    private static final String SESSIONS =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = ? AND backend_type = 'client backend'";

    private final EmbeddedPostgres postgres;
    private final JdbcTemplate jdbc;

    PostgresServer() throws IOException {
        this.postgres = Bench.startDurable();
        this.jdbc = new JdbcTemplate(postgres.getPostgresDatabase());
        jdbc.execute("CREATE EXTENSION pg_stat_statements");
    }

    /** Creates an empty database. */
    String newDatabase(String name) {
        jdbc.execute("CREATE DATABASE " + name);
        return postgres.getJdbcUrl("postgres", name);
    }

    @Override
    public String newDatabase(Peer peer) {
        return prepared(peer, newDatabase(peer.database()));
    }

    /**
     * Creates a database that counts its statements, which costs a little time. Its clients keep no prepared statements
     * at the server, because pg_stat_statements counts a {@code CALL} or {@code COMMIT} with a cached plan only once.
     */
    String newCountedDatabase(Peer peer, String name) {
        String url = newDatabase(name) + "&prepareThreshold=0";
        jdbc.execute("ALTER DATABASE " + name + " SET pg_stat_statements.track = 'top'");
        return prepared(peer, url);
    }

    private static String prepared(Peer peer, String url) {
        peer.prepare(new DriverManagerDataSource(url));
        return url;
    }

    @Override
    public String description() {
        return "PostgreSQL " + setting("server_version") + ", fsync = " + setting("fsync") + ", synchronous_commit = "
                + setting("synchronous_commit");
    }

    @Override
    public long processId() {
        return number("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::bigint");
    }

    private String setting(String name) {
        return String.valueOf(jdbc.queryForObject("SELECT current_setting(?)", String.class, name));
    }

    /** Round trips in a counted database. The driver sends BEGIN together with the statement after it. */
    long roundTrips(String database) {
        return number("""
                SELECT sum(calls) FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
                WHERE datname = ? AND query NOT LIKE 'BEGIN%'
                """, database);
    }

    /** Bytes of WAL written since the creation of the server, for all databases. */
    long walBytes() {
        return number("SELECT pg_current_wal_insert_lsn() - '0/0'");
    }

    /** Flushes that ended sessions waited for: the count of a session is certain only at its end. */
    long flushes() {
        return number("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal' AND backend_type = 'client backend'");
    }

    /** Waits until a database has no sessions. */
    void awaitEndOfSessions(String database) throws InterruptedException {
        for (int look = 0; number(SESSIONS, database) > 0; look++) {
            if (look == 3000) {
                throw new IllegalStateException("There are still sessions in database " + database);
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    @Override
    public void close() throws IOException {
        // A stop may take 5 s, but a slow disk needs longer for the unwritten data.
        jdbc.execute("CHECKPOINT");
        postgres.close();
    }

    private long number(String sql, Object... arguments) {
        Long number = jdbc.queryForObject(sql, Long.class, arguments);
        return number == null ? 0 : number;
    }
}
