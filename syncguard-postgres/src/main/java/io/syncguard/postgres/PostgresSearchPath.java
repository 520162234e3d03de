package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The search path of the library's sessions: the schemas of its tables, and temporary objects last. PostgreSQL searches
 * {@code pg_catalog} before them. Objects that somebody creates in other schemas of the role's own search path thus
 * take no part in a statement.
 *
 * <p>The first session looks once for a table without a schema in its name, on the role's search path. A table of the
 * same name that is created later in an earlier schema of that path is never used. Thread-safe.
 */
final class PostgresSearchPath {

    /** The first schema of the session's own search path that has the relation, and the schema for new relations. */
    private static final String SCHEMA_OF = """
            SELECT (
                SELECT n.nspname
                FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS s (name, position)
                JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) s.name
                JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
                WHERE c.relname OPERATOR(pg_catalog.=) ?::pg_catalog.name
                    AND c.relpersistence OPERATOR(pg_catalog.<>) 't'
                ORDER BY s.position
                LIMIT 1
            ), pg_catalog.current_schema()
            """;

    private final PostgresTables tables;

    /** Several threads may find the tables at first. All write the same value, unless the tables are moved. */
    private volatile @Nullable String found;

    PostgresSearchPath(PostgresTables tables) {
        this.tables = tables;
    }

    PostgresTables tables() {
        return tables;
    }

    /** Returns the path that was found before; {@code null} if none was. */
    @Nullable
    String found() {
        return found;
    }

    /** Returns the path; {@code null} if one of the tables does not exist. Asks the server until both exist. */
    @Nullable
    String find(Connection connection) throws SQLException {
        String known = found;
        if (known == null) {
            Place locks = placeOf(connection, tables.locks());
            Place counters = placeOf(connection, tables.fenceCounters());
            if (locks.schema() != null && counters.schema() != null) {
                known = path(locks.schema(), counters.schema());
                found = known;
            }
        }
        return known;
    }

    /**
     * Returns the path for the script, which creates missing tables in its first schema; {@code null} if there is no
     * schema for them.
     */
    @Nullable
    String forScript(Connection connection) throws SQLException {
        Place locks = placeOf(connection, tables.locks());
        Place counters = placeOf(connection, tables.fenceCounters());
        String ofLocks = locks.schemaOrNew();
        String ofCounters = isLocksQualified() ? counters.schemaOrNew() : counters.schema();
        if (ofLocks == null) {
            return null;
        }
        return path(ofLocks, Objects.requireNonNullElse(ofCounters, ofLocks));
    }

    /**
     * @param schema where the table is
     * @param forNew where it would be created
     */
    private record Place(@Nullable String schema, @Nullable String forNew) {

        @Nullable
        String schemaOrNew() {
            return schema == null ? forNew : schema;
        }
    }

    private boolean isLocksQualified() {
        return tables.locks().indexOf('.') >= 0;
    }

    private static Place placeOf(Connection connection, String table) throws SQLException {
        // PostgreSQL folds a name without quotes.
        String name = table.toLowerCase(Locale.ROOT);
        int dot = name.indexOf('.');
        if (dot >= 0) {
            return new Place(name.substring(0, dot), null);
        }
        try (PreparedStatement statement = connection.prepareStatement(SCHEMA_OF)) {
            statement.setString(1, name);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return new Place(rows.getString(1), rows.getString(2));
            }
        }
    }

    /**
     * Puts the schema first in which a name without a schema is looked for and created. If the name of the locks has a
     * schema, only that of the counters may lack one.
     */
    private String path(String ofLocks, String ofCounters) {
        return (isLocksQualified() ? Stream.of(ofCounters, ofLocks) : Stream.of(ofLocks, ofCounters))
                .distinct()
                .map(PostgresSearchPath::quoted)
                .collect(Collectors.joining(", ", "", ", pg_temp"));
    }

    /** Quotes an identifier, whatever characters it has. */
    static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }
}
