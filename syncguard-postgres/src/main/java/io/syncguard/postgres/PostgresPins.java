package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.MessageText;
import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.NetworkTimeout;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Pins leases: a transaction of the application locks their rows. */
final class PostgresPins implements LeasePins {

    /**
     * {@code FOR KEY SHARE} only blocks statements that delete a lease or change its lock id. A stronger lock would
     * block heartbeats, and fail under {@code REPEATABLE READ} after one.
     */
    private static final String PIN = """
            SELECT e.lock_id FROM (
                SELECT l.lock_id FROM %s l WHERE l.lock_id OPERATOR(pg_catalog.=) ANY (?::pg_catalog.text[])
                ORDER BY l.lock_id FOR KEY SHARE
            ) e
            UNION ALL
            SELECT r.lock_id FROM (
                SELECT s.lock_id FROM %s s WHERE s.lock_id OPERATOR(pg_catalog.=) ANY (?::pg_catalog.text[])
                ORDER BY s.lock_id FOR KEY SHARE
            ) r
            """;

    /**
     * A read-only transaction cannot lock rows, and the server does not report every read-only transaction. After the
     * error, the savepoint keeps the transaction usable. All statements travel in one round trip.
     */
    private static final String BEGIN = "SAVEPOINT syncguard_pin;\n";

    /**
     * Lock ids are parameters and secret: until the transaction ends, no error quotes them in the server's log. Older
     * versions never do.
     */
    private static final String QUOTE_NOTHING = "SET LOCAL log_parameter_max_length_on_error = 0;\n";

    /** The first version that has this setting. */
    private static final int QUOTES = 13;

    private static final String END = ";\nRELEASE SAVEPOINT syncguard_pin";
    private static final String UNDO = "ROLLBACK TO SAVEPOINT syncguard_pin";

    /**
     * A transaction may become read-only after it has written. To write, it takes one of these table locks, and keeps
     * it until its end.
     */
    private static final String WRITES_NOTHING = """
            SELECT pg_catalog.current_setting('transaction_read_only')::pg_catalog.bool AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_locks k
                JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) k.relation
                WHERE k.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
                    AND c.relpersistence OPERATOR(pg_catalog.<>) 't'
                    AND k.mode OPERATOR(pg_catalog.=) ANY (ARRAY[
                        'RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'])
            )
            """;

    /** The source file of PostgreSQL that detects dangerous structures of SERIALIZABLE transactions. */
    private static final String SERIALIZABLE = "predicate.c";

    private final RecognisedDatabases databases;
    private final PostgresConnections connections;
    private final BlockersStatement blockers;
    private final Duration timeout;

    PostgresPins(PostgresConnections connections, PostgresSettings settings, Time time) {
        this.databases = new RecognisedDatabases(connections, settings.tables(), time);
        this.timeout = settings.timeout();
        this.connections = connections;
        this.blockers = new BlockersStatement(settings.tables());
    }

    /** Asks the server once for each URL and user; a refusal counts for a minute. */
    @Override
    public @Nullable String whyNot(Connection connection) throws SQLException {
        return databases.whyNot(connection);
    }

    /** Waits for transactions that lock one of the rows, for half the network timeout at most. */
    @Override
    public Pinned pin(Connection connection, List<String> lockIds) throws SQLException {
        NetworkTimeout limit = limitNetworkTimeout(connection);
        boolean quotes = connection.getMetaData().getDatabaseMajorVersion() >= QUOTES;
        String begin = quotes ? BEGIN + QUOTE_NOTHING : BEGIN;
        RecognisedDatabases.LeaseTables tables = databases.tables();
        String pin = PIN.formatted(tables.qualifiedLocks(), tables.qualifiedShared());
        try (PreparedStatement statement = connection.prepareStatement(begin + pin + END)) {
            statement.setQueryTimeout((int) Math.max(1, timeout.toSeconds()));
            for (int parameter = 1; parameter <= 2; parameter++) {
                statement.setArray(parameter, connection.createArrayOf("text", lockIds.toArray()));
            }
            statement.execute();
            if (quotes) {
                statement.getMoreResults();
            }
            statement.getMoreResults();
            return new Pinned(lockIds(statement), null);
        } catch (SQLException ex) {
            return refused(connection, ex);
        } finally {
            limit.end();
        }
    }

    private static Set<String> lockIds(Statement statement) throws SQLException {
        Set<String> pinned = new HashSet<>();
        try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
                pinned.add(rows.getString(1));
            }
        }
        return pinned;
    }

    /** Rolls back to the savepoint after the server has refused to lock the rows. */
    private static Pinned refused(Connection connection, SQLException error) throws SQLException {
        boolean isReadOnly = SqlState.of(error) == SqlState.READ_ONLY;
        if (!isReadOnly && SqlState.of(error) != SqlState.MISSING_RIGHT) {
            throw error;
        }
        try (Statement undo = connection.createStatement()) {
            undo.execute(UNDO);
        }
        if (!isReadOnly) {
            // For example after SET ROLE: the check covered the rights of the user, and not those of each role.
            return new Pinned(null, "its role may not lock the rows of the leases");
        }
        if (!asksTrue(connection, WRITES_NOTHING)) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The transaction was made read-only after it had written, so its locks cannot be checked any more."
                            + " Make it read-only before it writes");
        }
        return Pinned.NOTHING_TO_GUARD;
    }

    /**
     * Asks the server if the transaction or its session was declared read-only, because a driver or a pool may ignore
     * that. For other products than PostgreSQL, the answer of the driver counts.
     */
    @Override
    public boolean isReadOnly(Connection connection, boolean isDeclared) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            return connection.isReadOnly();
        }
        boolean isHinted = isDeclared
                || connection.isReadOnly()
                || "on"
                        .equals(connection
                                .unwrap(PGConnection.class)
                                .getParameterStatus("default_transaction_read_only"));
        if (!isHinted) {
            return false;
        }
        NetworkTimeout limit = limitNetworkTimeout(connection);
        try {
            return asksTrue(connection, WRITES_NOTHING);
        } finally {
            limit.end();
        }
    }

    /**
     * Longer than the timeout of the statement: after that one, the driver cancels the statement and the connection
     * stays usable.
     */
    private NetworkTimeout limitNetworkTimeout(Connection connection) {
        return new NetworkTimeout(connection, timeout.multipliedBy(2));
    }

    private static boolean asksTrue(Connection connection, String question) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(question)) {
            return rows.next() && rows.getBoolean(1);
        }
    }

    @Override
    public boolean hasSnapshot(Connection connection) throws SQLException {
        return connection.getTransactionIsolation() >= Connection.TRANSACTION_REPEATABLE_READ;
    }

    @Override
    public List<BlockingSession> blockingSessions(String key) {
        return blockers.blockers(connections, key);
    }

    @Override
    public Failure meaningOf(SQLException error) {
        if (isUnserializable(error)) {
            return Failure.UNSERIALIZABLE;
        }
        if (SqlState.of(error) == SqlState.SERIALIZATION_FAILURE) {
            return Failure.TAKEN_OVER;
        }
        if (PostgresErrors.codeOf(error) == LockErrorCode.ABORTED) {
            return Failure.STORE;
        }
        return SqlState.of(error).concern() == SqlState.Concern.SESSION ? Failure.APPLICATION : Failure.STORE;
    }

    @Override
    public LockBackendException translate(String doing, SQLException error) {
        LockBackendException failure = PostgresErrors.translate(doing, error);
        return switch (SqlState.of(error)) {
            case LOCK_TIMEOUT -> limitedBy("the lock_timeout of the application's connection", failure);
            case CANCELED ->
                limitedBy(
                        MessageText.of(Duration.ofSeconds(Math.max(1, timeout.toSeconds())))
                                + " for half of syncguard.postgres.network-timeout, or a shorter statement_timeout of"
                                + " the application's connection",
                        failure);
            default -> failure;
        };
    }

    private static LockBackendException limitedBy(String limit, LockBackendException failure) {
        return new LockBackendException(
                failure.code(), failure.getMessage() + ". The limit is " + limit, failure.getCause());
    }

    private static boolean isUnserializable(SQLException error) {
        ServerErrorMessage message = error instanceof PSQLException server ? server.getServerErrorMessage() : null;
        return message != null && SERIALIZABLE.equals(message.getFile());
    }
}
