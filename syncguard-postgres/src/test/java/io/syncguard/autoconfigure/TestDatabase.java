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
public final class TestDatabase {

    private static final String ROLE_PASSWORD = "secret";

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));

    private TestDatabase() {}

    public static TestDatabase empty() {
        return new TestDatabase();
    }

    /** Creates a database with the tables and functions of the library under their default names. */
    public static TestDatabase withSchema() {
        return withSchema(FenceSource.COUNTER);
    }

    public static TestDatabase withSchema(FenceSource fences) {
        TestDatabase database = new TestDatabase();
        new PostgresSchema(PostgresServer.dataSource(database.url), PostgresTables.DEFAULT, fences).initialize();
        return database;
    }

    public String url() {
        return url;
    }

    public JdbcTemplate jdbc() {
        return jdbc;
    }

    public String name() {
        return jdbc.queryForObject("SELECT current_database()", String.class);
    }

    /** Creates a role that may log in and has no other rights. */
    public String newRole() {
        return newRole("role");
    }

    /** @param kind the beginning of the role's name */
    public String newRole(String kind) {
        String role = kind + "_of_" + name();
        jdbc.execute("CREATE ROLE " + role + " LOGIN PASSWORD '" + ROLE_PASSWORD + "'");
        return role;
    }

    /** The properties with which an application logs in as this role. */
    public String[] loginOf(String role) {
        return loginOf(url, role);
    }

    /** The URL with which this role logs in, at this database or at another address of it, such as a proxy. */
    public static String urlOf(String url, String role) {
        return anonymous(url) + "&user=" + role + "&password=" + ROLE_PASSWORD;
    }

    private static String anonymous(String url) {
        return Pattern.compile("(?<=[?&])(user|password)=[^&]*&?").matcher(url).replaceAll("");
    }

    /** The same for another way to this database, such as a proxy. */
    public static String[] loginOf(String url, String role) {
        return new String[] {
            "spring.datasource.url=" + anonymous(url),
            "spring.datasource.username=" + role,
            "spring.datasource.password=" + ROLE_PASSWORD
        };
    }

    /** The tables and functions in the order of their names. */
    public List<String> relationsAndFunctions() {
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
    public List<Map<String, Object>> catalogue() {
        return jdbc.queryForList("""
                SELECT 'relation' AS kind, oid, xmin::text FROM pg_class
                UNION ALL SELECT 'function', oid, xmin::text FROM pg_proc
                UNION ALL SELECT 'namespace', oid, xmin::text FROM pg_namespace
                ORDER BY kind, oid
                """);
    }

    /** The leases that are stored at the server. */
    public List<String> lockedKeys() {
        return jdbc.queryForList("SELECT key FROM syncguard_locks ORDER BY key", String.class);
    }

    /** Returns the number of the sessions of applications. */
    public int sessions() {
        return describedSessions().size();
    }

    /** Returns these sessions, each with its state and its last statement. Leaves out autovacuum workers. */
    public List<String> describedSessions() {
        return jdbc.queryForList(
                "SELECT concat_ws(' ', pid, state, wait_event, application_name, query_start, query)"
                        + " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                        + " AND backend_type = 'client backend' AND application_name <> ?",
                String.class,
                PostgresServer.KEPT);
    }

    /** Returns the number of transactions that an error or a rollback ended, in sessions that have ended. */
    public long rollbacks() {
        return jdbc.queryForObject(
                "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()", Long.class);
    }
}
