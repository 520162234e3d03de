package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The tables and functions that currently exist in the database. */
final class InstalledSchema {

    /** The lowest version of the script, as its version function answers, that the library works with. */
    private static final int VERSION = 6;

    private static final String IS_COMPLETE = """
            SELECT pg_catalog.to_regclass(?) IS NOT NULL AND pg_catalog.to_regclass(?) IS NOT NULL
                AND pg_catalog.to_regclass(?) IS NOT NULL AND pg_catalog.to_regclass(?) IS NOT NULL
                AND pg_catalog.to_regprocedure(?) IS NOT NULL
            """;

    /** Finds the function by its exact signature: an overload hides all functions of that name from to_regproc. */
    private static final String BODY = """
            SELECT prosrc FROM pg_catalog.pg_proc WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(?)
            """;

    /**
     * Endings that make the name of a table, a type or functions of the library from the name of another table of locks.
     */
    private static final String OF_ANOTHER = """
            SELECT o.locks
            FROM pg_catalog.unnest('{shared,waiters,answer,force,queue_and}'::pg_catalog.text[]) AS e (word)
            CROSS JOIN LATERAL (VALUES
                (pg_catalog.regexp_replace(?::pg_catalog.text,
                    ('_'::pg_catalog.text OPERATOR(pg_catalog.||) e.word)
                        OPERATOR(pg_catalog.||) '$'::pg_catalog.text, ''::pg_catalog.text, 'i'::pg_catalog.text)),
                ((?::pg_catalog.text OPERATOR(pg_catalog.||) '_'::pg_catalog.text) OPERATOR(pg_catalog.||) e.word)
            ) AS o (locks)
            WHERE o.locks OPERATOR(pg_catalog.<>) ?::pg_catalog.text
                AND pg_catalog.to_regprocedure(o.locks OPERATOR(pg_catalog.||) '_version()'::pg_catalog.text)
                    IS NOT NULL
            """;

    /** The body of a function that selects one value. It is read and not called: a role may lack the privilege. */
    private static final Pattern ONE_VALUE = Pattern.compile("\\s*SELECT '?([^'\\s]*)'?\\s*");

    private final Connection connection;
    private final PostgresTables tables;

    InstalledSchema(Connection connection, PostgresTables tables) {
        this.connection = connection;
        this.tables = tables;
    }

    /** Whether all tables and functions exist, in a version that the library works with. */
    boolean isComplete() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(IS_COMPLETE)) {
            statement.setString(1, tables.locks());
            statement.setString(2, tables.fenceCounters());
            statement.setString(3, tables.shared());
            statement.setString(4, tables.waiters());
            statement.setString(5, tables.locks() + "_version()");
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next() || !rows.getBoolean(1)) {
                    return false;
                }
            }
        }
        String version = textOf("_version()");
        return version != null && version.matches("\\d+") && Integer.parseInt(version) >= VERSION;
    }

    /** Another table of locks, whose objects have names of ours; {@code null} if there is none. */
    @Nullable
    String neighbour() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(OF_ANOTHER)) {
            for (int parameter = 1; parameter <= 3; parameter++) {
                statement.setString(parameter, tables.locks());
            }
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getString(1) : null;
            }
        }
    }

    /** The table of fence counters that the functions use; {@code null} if there are no functions. */
    @Nullable
    String fenceCounters() throws SQLException {
        return textOf("_fence_counters()");
    }

    /** The source from which the functions draw fences; {@code null} if there are no functions. */
    @Nullable
    String fenceSource() throws SQLException {
        return textOf("_fence_source()");
    }

    private @Nullable String textOf(String function) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(BODY)) {
            statement.setString(1, tables.locks() + function);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? ONE_VALUE.matcher(rows.getString(1)).replaceFirst("$1") : null;
            }
        }
    }
}
