package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.jdbc.NetworkTimeout;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Pins leases: a transaction of the application locks what only a deletion of their rows locks, too. */
final class PortablePins implements LeasePins {

    /** The server may have been replaced since the last question. */
    private static final long REFUSAL_NANOS = Duration.ofMinutes(1).toNanos();

    private final JdbcConnections connections;
    private final Dialect dialect;
    private final Dialect.Pinning pinning;
    private final String leases;

    private final Time time;

    /** The key is URL and user. */
    private final Map<String, Answer> known = new ConcurrentHashMap<>();

    private record Answer(@Nullable String reason, long askedAt) {}

    PortablePins(
            JdbcConnections connections, Dialect dialect, Dialect.Pinning pinning, PortableTables tables, Time time) {
        this.time = time;
        this.connections = connections;
        this.dialect = dialect;
        this.pinning = pinning;
        this.leases = tables.leases();
    }

    /** Asks the server once for each URL and user; a refusal counts for a minute. */
    @Override
    public @Nullable String whyNot(Connection connection) throws SQLException {
        DatabaseMetaData details = connection.getMetaData();
        if (!dialect.accepts(details.getURL())) {
            return "its database is " + details.getDatabaseProductName() + ", which does not store the lock";
        }
        String source = details.getURL() + " " + details.getUserName();
        Answer answer = known.get(source);
        if (answer == null || answer.reason() != null && time.nanoTime() - answer.askedAt() > REFUSAL_NANOS) {
            boolean same = connections
                    .call("asking for the database of the locks", this::database)
                    .equals(database(connection));
            answer = new Answer(same ? null : "it is of another database than the lock", time.nanoTime());
            known.put(source, answer);
        }
        return answer.reason();
    }

    private String database(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(pinning.database())) {
            rows.next();
            return rows.getString(1);
        }
    }

    @Override
    public boolean isReadOnly(Connection connection, boolean isDeclared) throws SQLException {
        return connection.isReadOnly();
    }

    /** Waits for deletions that have not been committed, for the network timeout at most. */
    @Override
    public Pinned pin(Connection connection, List<String> lockIds) throws SQLException {
        String these = " WHERE lock_id IN (" + Sql.marks(lockIds.size()) + ")";
        Map<String, Long> found = connections.call("looking for leases", own -> leases(own, new Sql(these, lockIds)));
        List<Object> parameters = new ArrayList<>();
        found.forEach((lockId, acquiredAt) -> parameters.addAll(List.of(acquiredAt, lockId)));
        String pin = pinning.hint() + Sql.anyOf(KeyRows.PINNED, found.size()) + " " + pinning.clause();
        NetworkTimeout limit =
                new NetworkTimeout(connection, connections.timeout().multipliedBy(2));
        try {
            return new Pinned(
                    found.isEmpty()
                            ? Set.of()
                            : leases(connection, new Sql(pin, parameters)).keySet(),
                    null);
        } catch (SQLException ex) {
            if (translate("", ex).code() == LockErrorCode.AUTH_FAILED) {
                return new Pinned(null, "its user may not lock the rows of the leases");
            }
            throw ex;
        } finally {
            limit.end();
        }
    }

    /** The lock ids of leases, and the times of their grants. */
    private Map<String, Long> leases(Connection connection, Sql query) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT lock_id, acquired_at FROM " + leases + query.text())) {
            statement.setQueryTimeout((int) Math.max(1, connections.timeout().toSeconds()));
            int position = 0;
            for (Object parameter : query.parameters()) {
                statement.setObject(++position, parameter);
            }
            Map<String, Long> found = new HashMap<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.put(rows.getString(1), rows.getLong(2));
                }
            }
            return found;
        }
    }

    /** A locking query sees what was committed before it, whatever the transaction saw. */
    @Override
    public boolean hasSnapshot(Connection connection) {
        return false;
    }

    /** Only an administrator may see the locks of others. */
    @Override
    public List<BlockingSession> blockingSessions(String key) {
        return List.of();
    }

    @Override
    public Failure meaningOf(SQLException error) {
        String state = error.getSQLState() == null ? "" : error.getSQLState();
        if (state.startsWith("40")) {
            return Failure.UNSERIALIZABLE;
        }
        return state.startsWith("08") || state.startsWith("25") ? Failure.APPLICATION : Failure.STORE;
    }

    @Override
    public LockBackendException translate(String doing, SQLException error) {
        return PortableErrors.translate(doing, error);
    }
}
