package io.syncguard.verification.matrix;

import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/** Faults between the check of a lock and the end of the commit under it. The server delays the commit. */
final class CommitFaults {

    /** A trigger that runs at the commit, after the guard of the library. */
    private static final String SLOW_COMMITS = """
            CREATE TABLE slowness (process TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL);
            CREATE FUNCTION slow_commit() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS $function$
            BEGIN
                PERFORM pg_sleep(s.seconds) FROM slowness s WHERE s.process = current_setting('application_name');
                RETURN NULL;
            END
            $function$;
            CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.kind IN ('GUARDED', 'INSIDE')) EXECUTE FUNCTION slow_commit();
            """;

    private static final String UNDER_WAY = """
            SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND wait_event = 'PgSleep'
            """;

    private static final long TOLERANCE_MILLIS = 1000;
    private static final long MILLI = 1_000_000;
    private static final long SOON_MILLIS = 1500;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Fleet fleet;
    private final JdbcTemplate jdbc;
    private final long ttlMillis;

    CommitFaults(Fleet fleet, PostgresSite site, long ttlMillis) {
        this.fleet = fleet;
        this.jdbc = site.applications();
        this.ttlMillis = ttlMillis;
        jdbc.execute(SLOW_COMMITS);
    }

    List<Fault> all() {
        return List.of(Fault.of(2, "a process is paused after its check, and its commit comes late", this::pause));
    }

    /** Pauses a process between check and commit for so long that another process may hold the lock at the commit. */
    private void pause(Random random) throws Exception {
        long millis = ttlMillis + TOLERANCE_MILLIS + 400 + random.nextLong(600);
        int victim = Awaitility.await("a commit under way")
                .atMost(PATIENCE)
                .until(() -> commits(random.nextInt(fleet.size()), millis), OptionalInt::isPresent)
                .getAsInt();
        fleet.paused(victim, () -> {
            jdbc.update("DELETE FROM slowness");
            LinkFaults.pause(random, millis, millis + 200);
        });
    }

    /** Delays the commits of the process. Returns the process if a commit begins soon, else nothing. */
    private OptionalInt commits(int victim, long millis) {
        String process = Integer.toString(victim);
        jdbc.update("INSERT INTO slowness VALUES (?, ?)", process, millis / 1000.0);
        long soon = System.nanoTime() + SOON_MILLIS * MILLI;
        while (System.nanoTime() < soon) {
            if (jdbc.queryForObject(UNDER_WAY, Long.class, process) > 0) {
                return OptionalInt.of(victim);
            }
            LockSupport.parkNanos(MILLI);
        }
        jdbc.update("DELETE FROM slowness");
        return OptionalInt.empty();
    }
}
