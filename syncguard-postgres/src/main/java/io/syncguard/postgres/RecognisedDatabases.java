package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Recognises connections to the database of the locks, by an answer of the server. Thread-safe.
 */
final class RecognisedDatabases {

    /** How long a refusal counts: the server may have been restarted between two questions. */
    private static final long REFUSAL_NANOS = Duration.ofMinutes(1).toNanos();

    private static final String OWN = """
            SELECT %s, n.oid::BIGINT, l.oid::BIGINT, s.oid::BIGINT, n.nspname, l.relname, s.relname
            FROM pg_database d, pg_class l, pg_class s, pg_namespace n
            WHERE d.datname = current_database() AND l.oid = '${syncguard_locks}'::REGCLASS::OID
                AND s.oid = '${syncguard_locks}_shared'::REGCLASS::OID AND n.oid = l.relnamespace
            """.formatted(DatabaseIdentity.EXPRESSION);

    /**
     * Names no object of ours, so that it works in any database. Qualifies all other names, because the session may
     * have any search path. Checks the columns only in the same database, where they exist. The answer counts for all
     * transactions of a user, so it disregards that one of them may have set a role with fewer rights.
     */
    private static final String OTHER = """
            SELECT i.same, CASE WHEN i.same THEN EXISTS (
                SELECT FROM (VALUES (session_user), (current_user)) AS u (role)
                WHERE pg_catalog.has_schema_privilege(u.role, ?::BIGINT::pg_catalog.oid, 'USAGE')
                    AND pg_catalog.has_column_privilege(u.role, ?::BIGINT::pg_catalog.oid, 'lock_id', 'SELECT')
                    AND pg_catalog.has_column_privilege(u.role, ?::BIGINT::pg_catalog.oid, 'lock_id', 'SELECT')
                    AND pg_catalog.has_any_column_privilege(u.role, ?::BIGINT::pg_catalog.oid, 'UPDATE')
                    AND pg_catalog.has_any_column_privilege(u.role, ?::BIGINT::pg_catalog.oid, 'UPDATE')) END
            FROM (
                SELECT %s OPERATOR(pg_catalog.=) ?::pg_catalog.text AS same
                FROM pg_catalog.pg_database d
                WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
            ) i
            """.formatted(DatabaseIdentity.EXPRESSION);

    private record Own(String identity, long schema, long locksOid, long sharedOid, LeaseTables tables) {}

    record LeaseTables(String schema, String locks, String shared) {

        /** The table of exclusive leases, with its schema because a transaction may have any search path. */
        String qualifiedLocks() {
            return qualified(locks);
        }

        /** The table of shared leases, with its schema. */
        String qualifiedShared() {
            return qualified(shared);
        }

        private String qualified(String table) {
            return PostgresSearchPath.quoted(schema) + "." + PostgresSearchPath.quoted(table);
        }
    }

    private record Answer(@Nullable String reason, long askedAt) {}

    private final PostgresConnections connections;
    private final Time time;
    private final String own;

    /** The key is URL and user. */
    private final ConcurrentMap<String, Answer> answers = new ConcurrentHashMap<>();

    /** Written by each thread that asks, always with the same names. */
    private volatile @Nullable LeaseTables tables;

    RecognisedDatabases(PostgresConnections connections, PostgresTables tables, Time time) {
        this.connections = connections;
        this.time = time;
        this.own = tables.fill(OWN);
    }

    /** The tables that a recognised connection reaches. */
    LeaseTables tables() {
        return Objects.requireNonNull(tables, "No connection was recognised before");
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

    /**
     * While the database of the locks does not answer, keeps an earlier refusal, so that transactions on other
     * databases go on.
     */
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
        tables = ours.tables();
        if (connection.getAutoCommit()) {
            return compare(connection, ours);
        }
        // A failure must not end the transaction of the application. In a global one, JDBC allows no savepoint of its
        // own.
        try (Statement savepoint = connection.createStatement()) {
            savepoint.execute("SAVEPOINT syncguard_recognition");
            try {
                return compare(connection, ours);
            } finally {
                savepoint.execute(
                        "ROLLBACK TO SAVEPOINT syncguard_recognition; RELEASE SAVEPOINT syncguard_recognition");
            }
        }
    }

    private static Own own(ResultSet rows) throws SQLException {
        rows.next();
        return new Own(
                rows.getString(1),
                rows.getLong(2),
                rows.getLong(3),
                rows.getLong(4),
                new LeaseTables(rows.getString(5), rows.getString(6), rows.getString(7)));
    }

    private static @Nullable String compare(Connection connection, Own ours) {
        try (PreparedStatement statement = connection.prepareStatement(OTHER)) {
            statement.setLong(1, ours.schema());
            statement.setLong(2, ours.locksOid());
            statement.setLong(3, ours.sharedOid());
            statement.setLong(4, ours.locksOid());
            statement.setLong(5, ours.sharedOid());
            statement.setString(6, ours.identity());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return reason(rows.getBoolean(1), rows.getBoolean(2), ours.tables());
            }
        } catch (SQLException ex) {
            return "its server cannot be compared with that of the locks: " + ex.getMessage();
        }
    }

    private static @Nullable String reason(boolean same, boolean permitted, LeaseTables tables) {
        if (!same) {
            return "its connection leads to another database than that of the locks";
        }
        return permitted
                ? null
                : "its user may not lock the rows of the leases: it needs USAGE on the schema " + tables.schema()
                        + ", and SELECT (lock_id) and UPDATE of any column on its tables " + tables.locks() + " and "
                        + tables.shared();
    }
}
