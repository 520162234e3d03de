package io.syncguard.verification.stress;

import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The data of the applications: writes stamped with fences, and a guard that refuses late writes.
 */
final class StressDatabase {

    private static final String SCHEMA = """
            CREATE SEQUENCE stress_numbers;
            CREATE UNLOGGED TABLE stress_guards (key TEXT PRIMARY KEY, fence BIGINT NOT NULL);
            CREATE UNLOGGED TABLE stress_effects (
                number BIGINT PRIMARY KEY, key TEXT NOT NULL, fence BIGINT NOT NULL, guarded BOOLEAN NOT NULL);

            -- The number is drawn with the guard's row locked: numbers of one key are in the order of commits. Null is
            -- a refusal.
            CREATE FUNCTION stress_guarded_effect(p_key TEXT, p_fence BIGINT) RETURNS BIGINT
            LANGUAGE plpgsql AS $function$
            DECLARE
                v_number BIGINT;
            BEGIN
                INSERT INTO stress_guards AS g (key, fence) VALUES (p_key, p_fence)
                ON CONFLICT (key) DO UPDATE SET fence = excluded.fence WHERE g.fence <= excluded.fence;
                IF NOT FOUND THEN
                    RETURN NULL;
                END IF;
                INSERT INTO stress_effects (number, key, fence, guarded)
                VALUES (nextval('stress_numbers'), p_key, p_fence, true) RETURNING number INTO v_number;
                RETURN v_number;
            END
            $function$;
            """;

    private static final String UNGUARDED = """
            INSERT INTO stress_effects (number, key, fence, guarded)
            VALUES (nextval('stress_numbers'), ?, ?, false) RETURNING number
            """;

    private static final String LATE = """
            SELECT count(*) FROM (
                SELECT fence, max(fence) OVER (PARTITION BY key ORDER BY number) AS largest
                FROM stress_effects WHERE guarded = ?) AS effects
            WHERE fence < largest
            """;

    private final JdbcTemplate jdbc;

    StressDatabase(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    void create() {
        jdbc.execute(SCHEMA);
    }

    /** @return the number of the effect; empty if the guard has seen a larger fence */
    Optional<Long> guardedEffect(String key, long fence) {
        return Optional.ofNullable(jdbc.queryForObject("SELECT stress_guarded_effect(?, ?)", Long.class, key, fence));
    }

    long unguardedEffect(String key, long fence) {
        return jdbc.queryForObject(UNGUARDED, Long.class, key, fence);
    }

    /** The number of writes that follow one with a larger fence. */
    long lateEffects(boolean guarded) {
        return jdbc.queryForObject(LATE, Long.class, guarded);
    }

    long effects() {
        return jdbc.queryForObject("SELECT count(*) FROM stress_effects", Long.class);
    }
}
