package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.jdbc.core.JdbcTemplate;

/** The functions of the script, of which a test replaces some for a while. They are named without the name of the table. */
final class RewrittenFunctions {

    private final JdbcTemplate jdbc;
    private final Map<String, String> originals = new HashMap<>();

    RewrittenFunctions(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * @param where a text that stands once in the function
     * @param replacement the text to put there
     */
    void rewrite(String function, String where, String replacement) {
        String source = remember(function);
        assertThat(source.split(Pattern.quote(where), -1))
                .as("the function has this line once: " + where)
                .hasSize(2);
        jdbc.execute(source.replace(where, replacement));
    }

    /** The server's clock is what this query says. */
    void replaceClock(String query) {
        remember("now");
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
