package io.syncguard.postgres;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of every statement of the library. They override the defaults of the server, the database and the role.
 * They belong to the session if no other client uses it, and to each transaction if a pooler lends the session.
 */
final class PostgresSessionSettings {

    /** A setting of the server, and the first version that has it. */
    private record Setting(String name, String value, int since) {

        /** Qualifies the function, because the statement runs under the role's own search path. */
        private String set(boolean local) {
            return "pg_catalog.set_config('" + name + "', " + literal() + ", " + local + ")";
        }

        /** The form E'' gives a backslash the same meaning under all settings of the server. */
        private String literal() {
            return "E'" + value.replace("\\", "\\\\").replace("'", "''") + "'";
        }
    }

    /** The first version that the library supports. */
    private static final int ALWAYS = 12;

    /** Settings that each transaction begins with, as defaults of the session. */
    private static final List<Setting> TRANSACTION = List.of(
            // Each statement of a function has to see what was committed before it. SERIALIZABLE would also make
            // releases fail.
            new Setting("default_transaction_isolation", "read committed", ALWAYS),
            // A role may be read-only by default.
            new Setting("default_transaction_read_only", "off", ALWAYS),
            // Only the pool ends an idle session.
            new Setting("idle_session_timeout", "0", 14));

    private final List<Setting> everywhere;

    /**
     * @param timeout the network timeout of the client. The limits of the server are shorter, because a timeout of the
     *     client costs a connection
     */
    PostgresSessionSettings(Duration timeout) {
        everywhere = List.of(
                // A grant is on disk before its answer is sent. The functions turn this off where durability is not
                // needed.
                new Setting("synchronous_commit", "on", ALWAYS),
                new Setting(
                        "statement_timeout",
                        String.valueOf(statementTimeout(timeout).toMillis()),
                        ALWAYS),
                // Shorter, so that the error says what the statement waited for.
                new Setting("lock_timeout", String.valueOf(lockTimeout(timeout).toMillis()), ALWAYS),
                // The statement has a limit already. A limit for its transaction would end the session.
                new Setting("transaction_timeout", "0", 17),
                // The transaction that looks at the schema has several statements, and a role may have a short limit.
                new Setting("idle_in_transaction_session_timeout", "0", ALWAYS),
                // A plan that was cached while the tables were empty stays in use while they grow.
                new Setting("enable_seqscan", "off", ALWAYS),
                // A bitmap takes longer for the few rows of a statement, and does not mark the entries of deleted rows.
                new Setting("enable_bitmapscan", "off", ALWAYS),
                // The server would plan calls with arrays anew each time, which takes longer than the calls.
                new Setting("plan_cache_mode", "force_generic_plan", ALWAYS),
                // Compiling takes longer than any of our statements.
                new Setting("jit", "off", ALWAYS),
                // A policy that would hide rows fails the statement: two holders could have a key whose lease it hides.
                new Setting("row_security", "off", ALWAYS),
                // Lock ids are parameters and secret: no error quotes them in the server's log.
                new Setting("log_parameter_max_length_on_error", "0", 13));
    }

    static Duration statementTimeout(Duration timeout) {
        return Duration.ofMillis(timeout.toMillis() * 9 / 10);
    }

    static Duration lockTimeout(Duration timeout) {
        return Duration.ofMillis(timeout.toMillis() * 8 / 10);
    }

    /**
     * Returns the statement that sets up a session. Its parameter is a process id: unless the session has it, the
     * statement sets nothing and returns no row.
     *
     * @param version the server's major version
     * @param searchPath {@code null} for that of the role
     */
    String ofSession(int version, @Nullable String searchPath) {
        return "SELECT " + set(TRANSACTION, version, null, false) + ", " + set(everywhere, version, searchPath, false)
                + " WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) ?";
    }

    /**
     * Returns the statements that begin a transaction with these settings, which end with it. The second statement
     * returns one row.
     *
     * @param version the server's major version
     * @param searchPath {@code null} for that of the role
     */
    String ofTransaction(int version, @Nullable String searchPath) {
        return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT " + set(everywhere, version, searchPath, true)
                + ";\n";
    }

    /** Returns the statement that sets the search path of the running transaction. */
    String ofPath(String searchPath) {
        return "SELECT " + new Setting("search_path", searchPath, ALWAYS).set(true);
    }

    private static String set(List<Setting> settings, int version, @Nullable String searchPath, boolean local) {
        Stream<Setting> path =
                searchPath == null ? Stream.empty() : Stream.of(new Setting("search_path", searchPath, ALWAYS));
        return Stream.concat(settings.stream(), path)
                .filter(setting -> setting.since() <= version)
                .map(setting -> setting.set(local))
                .collect(Collectors.joining(", "));
    }
}
