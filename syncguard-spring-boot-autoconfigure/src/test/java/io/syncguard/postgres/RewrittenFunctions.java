package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The functions of the script, some of which a test replaces for a while. They are named without the name of the table.
 */
final class RewrittenFunctions {

    private final JdbcTemplate jdbc;
    private final Map<String, String> originals = new HashMap<>();

    RewrittenFunctions(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * @param where a text that occurs once in the function
     * @param replacement the text instead of it
     */
    void rewrite(String function, String where, String replacement) {
        String source = remember(function);
        assertThat(source.split(Pattern.quote(where), -1))
                .as("the function has this line once: " + where)
                .hasSize(2);
        jdbc.execute(source.replace(where, replacement));
    }

    /** From now on the server's clock stands still, except for {@link #moveClock}. */
    void stopClock() {
        replaceClock("SELECT last_value FROM test_clock");
    }

    /** From now on the server's clock advances by one step with each reading, and only then. */
    void tickingClock(Duration step) {
        replaceClock("SELECT nextval('test_clock')");
        jdbc.execute("ALTER SEQUENCE test_clock INCREMENT " + step.toMillis());
    }

    /** A sequence is outside of transactions: all sessions see the new time at once. */
    void moveClock(Duration by) {
        jdbc.queryForObject("SELECT setval('test_clock', last_value + ?) FROM test_clock", Long.class, by.toMillis());
    }

    private void replaceClock(String query) {
        remember("now");
        jdbc.execute("CREATE SEQUENCE IF NOT EXISTS test_clock");
        jdbc.queryForObject("SELECT setval('test_clock', 1800000000000)", Long.class);
        jdbc.execute("CREATE OR REPLACE FUNCTION syncguard_locks_now() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$ "
                + query + " $$");
    }

    void restore(String function) {
        jdbc.execute(originals.get(function));
    }

    void restoreAll() {
        originals.values().forEach(jdbc::execute);
        originals.clear();
    }

    private String remember(String function) {
        String source = jdbc.queryForObject(
                "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = ?",
                String.class,
                "syncguard_locks_" + function);
        originals.putIfAbsent(function, source);
        return source;
    }
}
