package io.syncguard.postgres;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Stops sessions at an event: where they change a table, or call a function. The first sessions that arrive there stop,
 * the others pass. A stopped session waits for an advisory lock.
 */
final class RaceStops {

    private final JdbcTemplate jdbc;
    private final List<String> removals = new ArrayList<>();

    RaceStops(JdbcTemplate jdbc, int advisoryLock) {
        this.jdbc = jdbc;
        // Numbers up to 0 stop. The lock ends with the transaction of the session that has stopped.
        jdbc.execute("""
                CREATE SEQUENCE race_arrivals MINVALUE -1000 START 1;
                CREATE FUNCTION race_stop() RETURNS VOID LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('race_arrivals') <= 0 THEN
                        PERFORM pg_advisory_xact_lock_shared(%s);
                    END IF;
                END
                $$;
                CREATE FUNCTION race_stop_trigger() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM race_stop();
                    RETURN NEW;
                END
                $$
                """.formatted(advisoryLock));
    }

    /**
     * Stops sessions by a trigger.
     *
     * @param event such as {@code BEFORE INSERT}
     * @param level {@code STATEMENT} or {@code ROW}
     */
    void atChange(int sessions, String event, String table, String level) {
        jdbc.execute("CREATE TRIGGER race %s ON %s FOR EACH %s EXECUTE FUNCTION race_stop_trigger()"
                .formatted(event, table, level));
        removals.add("DROP TRIGGER race ON " + table);
        stop(sessions);
    }

    void beforeCall(String function) {
        wrap(function, "LANGUAGE sql AS $$ SELECT race_stop(); SELECT %s $$");
    }

    void afterCall(String function) {
        wrap(function, """
                LANGUAGE plpgsql AS $$
                DECLARE
                    v_result %2$s := %1$s;
                BEGIN
                    PERFORM race_stop();
                    RETURN v_result;
                END
                $$
                """);
    }

    /** Gives the function another name, and its name to one that stops and calls it. */
    private void wrap(String function, String body) {
        Map<String, Object> original = jdbc.queryForMap("""
                SELECT pronamespace::regnamespace AS schema, proname AS name,
                       pg_get_function_identity_arguments(oid) AS parameters, pg_get_function_result(oid) AS result,
                       (SELECT coalesce(string_agg('$' || n, ', '), '') FROM generate_series(1, pronargs) AS n)
                           AS arguments
                FROM pg_proc WHERE oid = CAST(? AS regproc)
                """, function);
        String signature =
                "%s.%s(%s)".formatted(original.get("schema"), original.get("name"), original.get("parameters"));
        String hidden = "%s.race_original".formatted(original.get("schema"));
        String result = original.get("result").toString();
        jdbc.execute("ALTER FUNCTION " + signature + " RENAME TO race_original");
        jdbc.execute("CREATE FUNCTION " + signature + " RETURNS " + result + " "
                + body.formatted("%s(%s)".formatted(hidden, original.get("arguments")), result));
        removals.add("DROP FUNCTION " + signature);
        removals.add("ALTER FUNCTION %s(%s) RENAME TO %s"
                .formatted(hidden, original.get("parameters"), original.get("name")));
        stop(1);
    }

    private void stop(int sessions) {
        jdbc.queryForObject("SELECT setval('race_arrivals', ?)", Long.class, -sessions);
    }

    void removeAll() {
        removals.forEach(jdbc::execute);
        removals.clear();
    }
}
