package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What exists in the database, read by one statement.
 *
 * @param hasAll whether all tables and functions exist, in any version
 * @param version the version of the script; {@code null} if there are no functions
 * @param fenceCounters the table of fence counters that the functions use; {@code null} if there are no functions
 * @param fenceSource the source from which the functions draw fences; {@code null} if there are no functions
 * @param neighbour another table of locks, whose objects have names of ours; {@code null} if there is none
 * @param sharer another table of locks with the same table of fence counters; {@code null} if there is none
 * @param clockSharer one whose fences come from the clock, so that it deletes counters; {@code null} if there is none
 * @param runsBlocks whether the user may run blocks of PL/pgSQL; to call functions, it needs no right to the language
 */
record InstalledSchema(
        boolean hasAll,
        @Nullable String version,
        @Nullable String fenceCounters,
        @Nullable String fenceSource,
        @Nullable String neighbour,
        @Nullable String sharer,
        @Nullable String clockSharer,
        boolean runsBlocks) {

    /** The lowest version of the script, as its version function answers, that the library works with. */
    private static final int VERSION = 7;

    /**
     * Finds a function by its exact signature: an overload hides all functions of that name from to_regproc. Its body
     * is read and it is not called: a role may lack the privilege. A neighbour is what is left of the name without one
     * of the endings that make a name of the library from that of a table, or the name with it.
     */
    private static final String READ = """
            WITH "Sharer" AS (
                SELECT pg_catalog.replace(p.proname::pg_catalog.text, '_fence_counters'::pg_catalog.text,
                           ''::pg_catalog.text) AS locks,
                       s.prosrc OPERATOR(pg_catalog.~~) '%clock%'::pg_catalog.text AS by_clock
                FROM pg_catalog.pg_proc p
                JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
                JOIN pg_catalog.pg_proc s ON s.pronamespace OPERATOR(pg_catalog.=) p.pronamespace
                    AND s.proname::pg_catalog.text OPERATOR(pg_catalog.=) pg_catalog.replace(
                        p.proname::pg_catalog.text, '_counters'::pg_catalog.text, '_source'::pg_catalog.text)
                CROSS JOIN LATERAL (
                    SELECT pg_catalog.substring(p.prosrc, $$'([^']+)'$$::pg_catalog.text) AS name
                ) AS c
                WHERE p.proname::pg_catalog.text OPERATOR(pg_catalog.~~) '%_fence_counters'::pg_catalog.text
                    AND p.pronargs OPERATOR(pg_catalog.=) 0::pg_catalog.int2
                    AND p.oid OPERATOR(pg_catalog.<>) coalesce(
                        pg_catalog.to_regprocedure('${syncguard_locks}_fence_counters()')::pg_catalog.oid,
                        0::pg_catalog.oid)
                    AND pg_catalog.to_regclass('${syncguard_fence_counters}')::pg_catalog.oid
                        OPERATOR(pg_catalog.=) pg_catalog.to_regclass(
                            CASE WHEN pg_catalog.strpos(c.name, '.'::pg_catalog.text) OPERATOR(pg_catalog.>) 0
                                THEN c.name
                                ELSE (pg_catalog.quote_ident(n.nspname::pg_catalog.text)
                                    OPERATOR(pg_catalog.||) '.'::pg_catalog.text) OPERATOR(pg_catalog.||) c.name
                            END)::pg_catalog.oid
            )
            SELECT pg_catalog.to_regclass('${syncguard_locks}') IS NOT NULL
                AND pg_catalog.to_regclass('${syncguard_fence_counters}') IS NOT NULL
                AND pg_catalog.to_regclass('${syncguard_locks}_shared') IS NOT NULL
                AND pg_catalog.to_regclass('${syncguard_locks}_waiters') IS NOT NULL,
                (SELECT prosrc FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('${syncguard_locks}_version()')),
                (SELECT prosrc FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('${syncguard_locks}_fence_counters()')),
                (SELECT prosrc FROM pg_catalog.pg_proc
                 WHERE oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure('${syncguard_locks}_fence_source()')),
                (SELECT o.locks
                 FROM pg_catalog.unnest('{shared,waiters,answer,force,queue_and}'::pg_catalog.text[]) AS e (word)
                 CROSS JOIN LATERAL (VALUES
                     (pg_catalog.regexp_replace('${syncguard_locks}'::pg_catalog.text,
                         ('_'::pg_catalog.text OPERATOR(pg_catalog.||) e.word)
                             OPERATOR(pg_catalog.||) '$'::pg_catalog.text, ''::pg_catalog.text, 'i'::pg_catalog.text)),
                     ('${syncguard_locks}_'::pg_catalog.text OPERATOR(pg_catalog.||) e.word)
                 ) AS o (locks)
                 WHERE o.locks OPERATOR(pg_catalog.<>) '${syncguard_locks}'::pg_catalog.text
                     AND pg_catalog.to_regprocedure(
                         o.locks OPERATOR(pg_catalog.||) '_version()'::pg_catalog.text) IS NOT NULL
                 LIMIT 1),
                (SELECT locks FROM "Sharer" LIMIT 1),
                (SELECT locks FROM "Sharer" WHERE by_clock LIMIT 1),
                pg_catalog.has_language_privilege('plpgsql'::pg_catalog.text, 'USAGE'::pg_catalog.text)
            """;

    /** The body of a function that selects one value. */
    private static final Pattern ONE_VALUE = Pattern.compile("\\s*SELECT '?([^'\\s]*)'?\\s*");

    static InstalledSchema in(Connection connection, PostgresTables tables) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(READ))) {
            rows.next();
            return new InstalledSchema(
                    rows.getBoolean(1),
                    value(rows.getString(2)),
                    value(rows.getString(3)),
                    value(rows.getString(4)),
                    rows.getString(5),
                    rows.getString(6),
                    rows.getString(7),
                    rows.getBoolean(8));
        }
    }

    private static @Nullable String value(@Nullable String body) {
        return body == null ? null : ONE_VALUE.matcher(body).replaceFirst("$1");
    }

    /** Whether all tables and functions exist, in a version that the library works with. */
    boolean isComplete() {
        return hasAll && version != null && version.matches("\\d+") && Integer.parseInt(version) >= VERSION;
    }
}
