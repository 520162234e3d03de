package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Recognises connections to the database of the locks, by an answer of the server. URLs prove nothing: two of them may
 * lead to one database, through a pooler, and one to two. Threads may share it.
 */
final class RecognisedDatabases {

    /** How long a refusal counts: the server may have been restarted between two questions. */
    private static final long REFUSAL_NANOS = Duration.ofMinutes(1).toNanos();

    /** The start of the server distinguishes it from its standbys and copies, which have the same identifier. */
    private static final String IDENTITY = "pg_postmaster_start_time()::TEXT || ' ' || d.oid";

    private static final String OWN = """
            SELECT %s, n.oid::BIGINT, '${syncguard_locks}'::REGCLASS::OID::BIGINT,
                '${syncguard_locks}_shared'::REGCLASS::OID::BIGINT, format('%%I.%%I', n.nspname, c.relname)
            FROM pg_database d, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE d.datname = current_database() AND c.oid = '${syncguard_locks}'::REGCLASS
            """.formatted(IDENTITY);

    /** No object of ours is named: the statement works in any database. */
    private static final String OTHER = """
            SELECT %s = ?, coalesce(
                has_schema_privilege(?::BIGINT::OID, 'USAGE')
                AND has_table_privilege(?::BIGINT::OID, 'SELECT') AND has_table_privilege(?::BIGINT::OID, 'SELECT')
                AND has_any_column_privilege(?::BIGINT::OID, 'UPDATE')
                AND has_any_column_privilege(?::BIGINT::OID, 'UPDATE'), false)
            FROM pg_database d WHERE d.datname = current_database()
            """.formatted(IDENTITY);

    /** @param locks the table of the locks with its schema: a transaction may have any search path */
    private record Own(String identity, long schema, long locksOid, long sharedOid, String locks) {}

    private record Answer(@Nullable String reason, long askedAt) {}

    private final PostgresConnections connections;
    private final PostgresTables tables;
    private final Time time;
    private final String own;

    /** By URL and user. */
    private final ConcurrentMap<String, Answer> answers = new ConcurrentHashMap<>();

    /** Written by each thread that asks, always with the same names. */
    private volatile String locks;

    RecognisedDatabases(PostgresConnections connections, PostgresTables tables, Time time) {
        this.connections = connections;
        this.tables = tables;
        this.time = time;
        this.own = tables.fill(OWN);
        this.locks = tables.locks();
    }

    /** The table of the locks, with its schema once a connection was recognised. */
    String locks() {
        return locks;
    }

    /** Why this connection is not recognised; {@code null} if it is. */
    @Nullable
    String whyNot(Connection connection) throws SQLException {
        DatabaseMetaData details = connection.getMetaData();
        if (!details.getDatabaseProductName().equals("PostgreSQL")) {
            return "its database is " + details.getDatabaseProductName() + ", and the locks are in PostgreSQL";
        }
        String source = details.getURL() + " " + details.getUserName();
        Answer known = answers.get(source);
        if (known == null || known.reason() != null && time.nanoTime() - known.askedAt() > REFUSAL_NANOS) {
            known = new Answer(reason(connection, known), time.nanoTime());
            answers.put(source, known);
        }
        return known.reason();
    }

    /** While the database of the locks does not answer, a refusal counts on: transactions on others go on. */
    private @Nullable String reason(Connection connection, @Nullable Answer known) throws SQLException {
        Own ours;
        try {
            ours = connections.query(
                    "asking for the database of the locks", own, (any, statement) -> {}, RecognisedDatabases::own);
        } catch (LockBackendException ex) {
            if (known == null) {
                throw ex;
            }
            return known.reason();
        }
        locks = ours.locks();
        if (connection.getAutoCommit()) {
            return compare(connection, ours);
        }
        // A failure must not end the transaction of the application.
        Savepoint before = connection.setSavepoint();
        try {
            return compare(connection, ours);
        } finally {
            connection.rollback(before);
        }
    }

    private static Own own(ResultSet rows) throws SQLException {
        rows.next();
        return new Own(rows.getString(1), rows.getLong(2), rows.getLong(3), rows.getLong(4), rows.getString(5));
    }

    private @Nullable String compare(Connection connection, Own ours) {
        try (PreparedStatement statement = connection.prepareStatement(OTHER)) {
            statement.setString(1, ours.identity());
            statement.setLong(2, ours.schema());
            statement.setLong(3, ours.locksOid());
            statement.setLong(4, ours.sharedOid());
            statement.setLong(5, ours.locksOid());
            statement.setLong(6, ours.sharedOid());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return reason(rows.getBoolean(1), rows.getBoolean(2));
            }
        } catch (SQLException ex) {
            return "its server cannot be compared with that of the locks: " + ex.getMessage();
        }
    }

    private @Nullable String reason(boolean same, boolean permitted) {
        if (!same) {
            return "its connection leads to another database than that of the locks";
        }
        return permitted
                ? null
                : "its user may not lock the rows of the leases: it needs USAGE on their schema, and SELECT and UPDATE"
                        + " on " + locks + " and " + tables.shared();
    }
}
