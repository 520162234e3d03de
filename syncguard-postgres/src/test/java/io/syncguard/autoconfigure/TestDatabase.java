package io.syncguard.autoconfigure;

import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.jdbc.core.JdbcTemplate;

/** A database of a test, and access to it without the library. */
final class TestDatabase {

    private static final String ROLE_PASSWORD = "secret";

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));

    private TestDatabase() {}

    static TestDatabase empty() {
        return new TestDatabase();
    }

    /** Creates a database with the tables and functions of the library under their default names. */
    static TestDatabase withSchema() {
        return withSchema(FenceSource.COUNTER);
    }

    static TestDatabase withSchema(FenceSource fences) {
        TestDatabase database = new TestDatabase();
        new PostgresSchema(PostgresServer.dataSource(database.url), PostgresTables.DEFAULT, fences).initialize();
        return database;
    }

    String url() {
        return url;
    }

    JdbcTemplate jdbc() {
        return jdbc;
    }

    String name() {
        return jdbc.queryForObject("SELECT current_database()", String.class);
    }

    /** Creates a role that may log in and has no other rights. */
    String newRole() {
        return newRole("role");
    }

    /** @param kind the beginning of the role's name */
    String newRole(String kind) {
        String role = kind + "_of_" + name();
        jdbc.execute("CREATE ROLE " + role + " LOGIN PASSWORD '" + ROLE_PASSWORD + "'");
        return role;
    }

    /** The properties with which an application logs in as this role. */
    String[] loginOf(String role) {
        return loginOf(url, role);
    }

    /** The same for another way to this database, such as a proxy. */
    static String[] loginOf(String url, String role) {
        String anonymous =
                Pattern.compile("(?<=[?&])(user|password)=[^&]*&?").matcher(url).replaceAll("");
        return new String[] {
            "spring.datasource.url=" + anonymous,
            "spring.datasource.username=" + role,
            "spring.datasource.password=" + ROLE_PASSWORD
        };
    }

    /** The tables and functions in the order of their names. */
    List<String> relationsAndFunctions() {
        return jdbc.queryForList("""
                SELECT name FROM (
                    SELECT relnamespace, relname FROM pg_class WHERE relkind = 'r'
                    UNION ALL SELECT pronamespace, proname FROM pg_proc) AS found (namespace, name)
                WHERE namespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
                    AND namespace::regnamespace::text NOT LIKE 'pg_toast%'
                ORDER BY name
                """, String.class);
    }

    /** The row versions of everything in the catalogue that a schema script could change. */
    List<Map<String, Object>> catalogue() {
        return jdbc.queryForList("""
                SELECT 'relation' AS kind, oid, xmin::text FROM pg_class
                UNION ALL SELECT 'function', oid, xmin::text FROM pg_proc
                UNION ALL SELECT 'namespace', oid, xmin::text FROM pg_namespace
                ORDER BY kind, oid
                """);
    }

    /** The leases that are stored at the server. */
    List<String> lockedKeys() {
        return jdbc.queryForList("SELECT key FROM syncguard_locks ORDER BY key", String.class);
    }

    /** Returns the number of all other sessions. */
    int sessions() {
        return describedSessions().size();
    }

    /** Returns these sessions, each with its state and its last statement. Leaves out autovacuum workers. */
    List<String> describedSessions() {
        return jdbc.queryForList(
                "SELECT concat_ws(' ', pid, state, wait_event, application_name, query_start, query)"
                        + " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                        + " AND backend_type = 'client backend'",
                String.class);
    }

    /** Returns the number of transactions that an error or a rollback ended, in sessions that have ended. */
    long rollbacks() {
        return jdbc.queryForObject(
                "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()", Long.class);
    }
}
