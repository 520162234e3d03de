package io.syncguard.postgres;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** Replaces functions of the script for the time of a test. Functions are named without the name of the table. */
final class ReplacedFunctions {

    private final JdbcTemplate jdbc;
    private final Map<String, String> originals = new HashMap<>();

    ReplacedFunctions(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Replaces a whole function.
     *
     * @param signature its parameters and its type, as in the script
     * @param query the query that the function runs from now on
     */
    void replace(String function, String signature, String query) {
        remember(function);
        jdbc.execute("CREATE OR REPLACE FUNCTION syncguard_locks_%s%s LANGUAGE sql VOLATILE AS $$ %s $$"
                .formatted(function, signature, query));
    }

    /** Makes a function wait longer for locks than a batch does. */
    void setPatient(String... functions) {
        for (String function : functions) {
            remember(function);
            jdbc.execute("ALTER FUNCTION syncguard_locks_" + function + " SET lock_timeout = '60s'");
        }
    }

    /** Stops the server's clock. Only {@link #moveClock} moves it. */
    void stopClock() {
        replaceClock("SELECT last_value FROM test_clock");
    }

    /** Makes the server's clock advance by one step with each reading, and only then. */
    void tickingClock(Duration step) {
        replaceClock("SELECT nextval('test_clock')");
        jdbc.execute("ALTER SEQUENCE test_clock INCREMENT " + step.toMillis());
    }

    /** A sequence is outside of transactions: all sessions see the new time at once. */
    void moveClock(Duration by) {
        jdbc.queryForObject("SELECT setval('test_clock', last_value + ?) FROM test_clock", Long.class, by.toMillis());
    }

    private void replaceClock(String query) {
        jdbc.execute("CREATE SEQUENCE IF NOT EXISTS test_clock");
        jdbc.queryForObject("SELECT setval('test_clock', 1800000000000)", Long.class);
        replace("now", "() RETURNS BIGINT", query);
    }

    void restore(String function) {
        jdbc.execute(originals.get(function));
    }

    void restoreAll() {
        originals.values().forEach(jdbc::execute);
        originals.clear();
    }

    private void remember(String function) {
        originals.computeIfAbsent(
                function,
                name -> jdbc.queryForObject(
                        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = ?",
                        String.class,
                        "syncguard_locks_" + name));
    }
}
