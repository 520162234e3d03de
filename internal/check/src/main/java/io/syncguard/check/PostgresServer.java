package io.syncguard.check;

import io.syncguard.check.Finding.Part;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** PostgreSQL, or a database that says that it is one. */
final class PostgresServer extends JdbcServer {

    private static final int OLDEST_VERSION = 130000;

    private static final int MESSAGE_MILLIS = 3000;

    /** Functions that a name without a schema would find before or beside those of the server. */
    private static final String HIDDEN_FUNCTIONS = """
            SELECT DISTINCT n.nspname || '.' || p.proname FROM pg_catalog.pg_proc p
            JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
            JOIN pg_catalog.pg_proc own ON own.proname = p.proname
                AND own.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
            WHERE n.nspname = ANY (pg_catalog.current_schemas(false)) LIMIT 10
            """;

    private static final String MISSING_RIGHTS = """
            WITH tables AS (
                SELECT c.oid, c.relnamespace, c.relname <> 'syncguard_fence_counters' AS deletes
                FROM pg_catalog.pg_class c
                WHERE c.relkind = 'r' AND c.relname IN ('syncguard_locks', 'syncguard_locks_shared',
                    'syncguard_locks_waiters', 'syncguard_fence_counters'))
            SELECT DISTINCT pg_catalog.format('GRANT USAGE ON SCHEMA %s TO %I', t.relnamespace::pg_catalog.regnamespace,
                current_user)
            FROM tables t WHERE NOT pg_catalog.has_schema_privilege(t.relnamespace, 'USAGE')
            UNION ALL
            SELECT pg_catalog.format('GRANT %s ON %s TO %I', pg_catalog.string_agg(r.name, ', ' ORDER BY r.place),
                t.oid::pg_catalog.regclass, current_user)
            FROM tables t
            CROSS JOIN (VALUES (1, 'SELECT'), (2, 'INSERT'), (3, 'UPDATE'), (4, 'DELETE')) AS r (place, name)
            WHERE (t.deletes OR r.name <> 'DELETE') AND NOT pg_catalog.has_table_privilege(t.oid, r.name)
            GROUP BY t.oid
            """;

    private boolean wakeUps;

    PostgresServer(Login login) {
        super(login);
    }

    @Override
    public String product() {
        return value("SELECT pg_catalog.split_part(pg_catalog.version(), ' on ', 1)");
    }

    @Override
    public Times.Benchmark benchmark() {
        return Times.Benchmark.POSTGRES;
    }

    @Override
    public long clockMillis() {
        return number("SELECT pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::BIGINT");
    }

    @Override
    public boolean deliversWakeUps() {
        return wakeUps;
    }

    /** Unpooled connections for the wake-ups of the contract; null if none arrives. */
    @Nullable
    DataSource wakeUps() {
        if (!wakeUps) {
            return null;
        }
        DriverManagerDataSource unpooled = new DriverManagerDataSource(login().url());
        if (!login().user().isEmpty()) {
            unpooled.setUsername(login().user());
            unpooled.setPassword(login().password());
        }
        return unpooled;
    }

    @Override
    public List<Finding> look() {
        List<Finding> findings = new ArrayList<>();
        findings.add(version());
        findings.addAll(lookForOthers(
                "SELECT pg_catalog.concat_ws(' ', pg_catalog.inet_server_addr(), pg_catalog.inet_server_port(),"
                        + " pg_catalog.pg_postmaster_start_time())",
                "SELECT NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.current_setting('transaction_read_only') ="
                        + " 'off'"));
        findings.add(pooler());
        findings.add(messages());
        findings.addAll(durability());
        findings.addAll(session());
        findings.add(rights());
        findings.add(functions());
        findings.add(leftovers());
        return findings;
    }

    private Finding version() {
        long number = number("SELECT pg_catalog.current_setting('server_version_num')::INT");
        return number < OLDEST_VERSION
                ? Finding.broken(Part.LOOK, "version", product() + " is older than 13", "Use PostgreSQL 13 or later")
                : Finding.holds(Part.LOOK, "version", product());
    }

    /** The driver knows the session that answered its login, the server the one that answers a statement. */
    private Finding pooler() {
        boolean direct = Boolean.TRUE.equals(jdbc().execute((ConnectionCallback<Boolean>) connection -> {
            int atLogin = connection.unwrap(PGConnection.class).getBackendPID();
            return atLogin == backendOf(connection) && atLogin == backendOf(connection);
        }));
        return direct
                ? Finding.holds(Part.LOOK, "pooler", "each connection has a session of its own")
                : Finding.warning(
                        Part.LOOK,
                        "pooler",
                        "sessions are shared: a pooler or a proxy stands in front of the server",
                        "Wake-ups may not arrive, and waiters then poll. Give the locks a direct connection with"
                                + " @SyncGuardDataSource");
    }

    private static int backendOf(Connection connection) throws SQLException {
        try (var rows = connection.createStatement().executeQuery("SELECT pg_catalog.pg_backend_pid()")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private Finding messages() {
        String channel = "syncguard_check_" + UUID.randomUUID().toString().substring(0, 8);
        SingleConnectionDataSource listener = login().connect();
        try {
            new JdbcTemplate(listener).execute("LISTEN " + channel);
            jdbc().queryForList("SELECT pg_catalog.pg_notify(?, '')", channel);
            var messages = new JdbcTemplate(listener).execute((ConnectionCallback<Integer>)
                    connection -> connection.unwrap(PGConnection.class).getNotifications(MESSAGE_MILLIS).length);
            if (messages != null && messages > 0) {
                wakeUps = true;
                return Finding.holds(Part.LOOK, "wake-ups", "a notification arrives");
            }
        } catch (RuntimeException ex) {
            // It is reported like a message that did not arrive.
        } finally {
            listener.destroy();
        }
        return Finding.warning(
                Part.LOOK,
                "wake-ups",
                "no notification arrived within " + MESSAGE_MILLIS / 1000 + " s",
                "Waiters poll, which is slower. Give the locks a direct connection with @SyncGuardDataSource");
    }

    private List<Finding> durability() {
        List<Finding> findings = new ArrayList<>();
        for (String setting : List.of("fsync", "full_page_writes")) {
            String value = value("SELECT pg_catalog.current_setting('" + setting + "')");
            if (value.equals("off")) {
                findings.add(Finding.broken(
                        Part.LOOK,
                        "durable grants",
                        setting + " is off: after a crash of the machine, granted keys are free, and fences repeat",
                        "Set " + setting + " = on"));
            }
        }
        String commit = value("SELECT pg_catalog.current_setting('synchronous_commit')");
        if (commit.equals("off")) {
            findings.add(Finding.warning(
                    Part.LOOK,
                    "durable grants",
                    "synchronous_commit is off. The library sets it to on for its own sessions; commits of your data"
                            + " under a lock may still be lost in a crash",
                    "Set synchronous_commit = on for the applications"));
        }
        String replicas = value("SELECT count(*) FROM pg_catalog.pg_stat_replication");
        String synchronous = value("SELECT pg_catalog.current_setting('synchronous_standby_names')");
        if (synchronous.isEmpty() && !replicas.equals("0")) {
            findings.add(Finding.warning(
                    Part.LOOK,
                    "failover",
                    "standbys are asynchronous: a failover forgets the last grants and fences",
                    "Set synchronous_standby_names, or syncguard.fences=clock"));
        }
        if (findings.isEmpty()) {
            findings.add(Finding.holds(Part.LOOK, "durable grants", "fsync is on, synchronous_commit is " + commit));
        }
        return findings;
    }

    private List<Finding> session() {
        List<Finding> findings = new ArrayList<>();
        Map<String, @Nullable Object> settings = jdbc().queryForMap("""
                SELECT pg_catalog.current_setting('default_transaction_isolation') AS isolation,
                    pg_catalog.current_setting('server_encoding') AS encoding,
                    pg_catalog.current_setting('max_connections')::INT AS most,
                    (SELECT count(*)::INT FROM pg_catalog.pg_stat_activity) AS used
                """);
        if (!"UTF8".equals(settings.get("encoding"))) {
            findings.add(Finding.warning(
                    Part.LOOK,
                    "keys",
                    "the database is in " + settings.get("encoding") + ", which lacks characters of some keys",
                    "Keep the locks in a database in UTF-8"));
        }
        findings.add(Finding.holds(
                Part.LOOK,
                "sessions",
                settings.get("used") + " of " + settings.get("most") + " connections are used; transactions are "
                        + settings.get("isolation") + " by default, and time zone and isolation change no lock"));
        return findings;
    }

    private Finding rights() {
        List<String> missing = new ArrayList<>(texts(MISSING_RIGHTS));
        if (!mayCreateSchema()
                && !Boolean.TRUE.equals(jdbc().queryForObject(
                                "SELECT pg_catalog.has_schema_privilege(pg_catalog.current_schema(), 'CREATE')",
                                Boolean.class))) {
            missing.add(rightsOfAreas());
        }
        return missing.isEmpty()
                ? Finding.holds(Part.LOOK, "rights", "the user has the rights on the tables of the locks")
                : Finding.warning(Part.LOOK, "rights", "rights are missing", String.join("; ", missing));
    }

    @Override
    public String rightsOfAreas() {
        return value("SELECT pg_catalog.format('GRANT CREATE ON DATABASE %I TO %I', pg_catalog.current_database(),"
                + " current_user)");
    }

    private boolean mayCreateSchema() {
        return Boolean.TRUE.equals(jdbc().queryForObject(
                        "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')",
                        Boolean.class));
    }

    private Finding functions() {
        List<String> hidden = texts(HIDDEN_FUNCTIONS);
        return hidden.isEmpty()
                ? Finding.holds(Part.LOOK, "search path", "no function hides one of the server")
                : Finding.warning(
                                Part.LOOK,
                                "search path",
                                hidden.size() + " functions have names of the server's own. The library's statements"
                                        + " name those of the server; yours may not",
                                "Move them out of the search path of the user")
                        .with(hidden);
    }

    private Finding leftovers() {
        List<String> left =
                texts("SELECT 'DROP SCHEMA ' || nspname || ' CASCADE' FROM pg_catalog.pg_namespace WHERE nspname LIKE"
                        + " 'syncguard\\_check\\_%'");
        return left.isEmpty()
                ? Finding.holds(Part.LOOK, "leftovers", "no earlier check left anything")
                : Finding.warning(
                                Part.LOOK,
                                "leftovers",
                                "an earlier check was killed, or one is running",
                                "If none is running, remove what is listed")
                        .with(left);
    }

    @Override
    public Area newArea() {
        return new PostgresArea(this, Check.newName(), mayCreateSchema());
    }
}
