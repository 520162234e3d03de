package io.syncguard.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Another session of the database, with an open transaction, which holds the row locks that a test needs. Outside of
 * that transaction, it also reads and ends sessions.
 */
public final class OtherSession implements AutoCloseable {

    private static final String WAITING = """
            SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """;

    private final Connection connection;
    private final JdbcTemplate jdbc;

    /** @param url the JDBC URL of the database */
    public OtherSession(String url) {
        this.jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
        try {
            this.connection = PostgresServer.dataSource(url).getConnection();
            connection.setAutoCommit(false);
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Runs a statement in the open transaction. */
    public void run(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Rolls the transaction back, which releases its locks, and begins another one. */
    public void rollback() {
        try {
            connection.rollback();
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Commits the transaction and begins another one. */
    public void commit() {
        try {
            connection.commit();
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Waits until a session waits for a lock. */
    public void awaitWaiter() {
        Awaitility.await("a session that waits for a lock")
                .atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> !jdbc.queryForList(WAITING).isEmpty());
    }

    /** Ends the sessions that wait for a lock. */
    public void killWaiters() {
        jdbc.queryForList("SELECT pg_terminate_backend(pid) FROM (" + WAITING + ") AS waiting");
    }

    /** Statements in autocommit, outside of the open transaction. */
    public JdbcTemplate jdbc() {
        return jdbc;
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
