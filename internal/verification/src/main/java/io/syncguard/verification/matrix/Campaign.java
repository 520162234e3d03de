package io.syncguard.verification.matrix;

import io.syncguard.verification.recording.Recording;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.springframework.dao.DataAccessException;

/**
 * Runs applications on one site and injects faults, one after the other, at random moments.
 *
 * <p>After each fault the campaign waits until every key was used again before the next round. So it detects a key that
 * hangs for good.
 */
final class Campaign<S extends Site> {

    /** The limit for the next use of all keys after a fault. */
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private static final long MILLI = 1_000_000;
    private static final int MOST_MILLIS_BEFORE_FAULT = 150;

    /** A key may have several names in turn. */
    private static final String VERSIONS = """
            SELECT split_part(key, ':', 1) AS key, sum(version) AS version FROM heads GROUP BY 1
            """;

    private final Plan<S> plan;
    private final Site site;
    private final Random random;
    private final Duration tolerance;
    private final Path directory;
    private final Recording recording;
    private final Fleet fleet;
    private final List<Fault> faults;
    private final Absences absences = new Absences();
    private final List<Round> rounds = new ArrayList<>();

    /** Measures a campaign. */
    interface Watch {

        /** Measures nothing. */
        Watch NONE = fleet -> {};

        /** Called when the processes work, before the first fault. */
        default void begin(Fleet fleet) {}

        /** Called after the last fault, while the processes still work. */
        void end(Fleet fleet) throws Exception;
    }

    /**
     * @param seed of all random choices, but not of their timing at the server
     * @param tolerance added to the promised times, for other load on the machine
     */
    Campaign(Plan<S> plan, S site, long seed, Duration tolerance) throws IOException {
        this.plan = plan;
        this.site = site;
        this.random = new Random(seed);
        this.tolerance = tolerance;
        this.directory =
                Files.createTempDirectory(Files.createDirectories(Path.of("target", "matrix")), plan.name() + "-");
        this.recording = new Recording("test", directory.resolve("test.history"));
        this.fleet = new Fleet(site, directory, recording, plan.load(), random);
        this.faults = plan.faults().on(site, fleet, plan.load());
    }

    /** The faults of the plan. */
    List<Fault> faults() {
        return faults;
    }

    /** @param roundsOfEach the number of rounds of each fault; a fault with a share gets fewer */
    CampaignReport run(int roundsOfEach) throws Exception {
        return run(
                faults.stream()
                        .flatMap(fault -> Stream.generate(() -> fault).limit(fault.rounds(roundsOfEach)))
                        .iterator(),
                Watch.NONE);
    }

    /** @param schedule the faults in their order */
    CampaignReport run(Iterator<Fault> schedule, Watch watch) throws Exception {
        try {
            fleet.start();
            awaitUse("before the first fault");
            watch.begin(fleet);
            while (schedule.hasNext()) {
                round(schedule.next());
            }
            watch.end(fleet);
            fleet.end();
        } finally {
            fleet.kill();
            absences.close();
        }
        absences.add(fleet.absences());
        recording.store(site.store());
        recording.close();
        return new CampaignJudge(plan, site, absences, rounds, tolerance).judge(faults, fleet, directory);
    }

    private void round(Fault fault) throws Exception {
        LockSupport.parkNanos(random.nextLong(MOST_MILLIS_BEFORE_FAULT * MILLI));
        long from = System.nanoTime();
        fault.injection().inject(random);
        long healed = System.nanoTime();
        if (fault.isCrash()) {
            recording.crashed(from, healed);
        }
        awaitUse("after: " + fault.name());
        rounds.add(new Round(fault, from, healed, System.nanoTime()));
    }

    /** Waits until each key has an effect that was committed after this call began. */
    private void awaitUse(String when) {
        Map<String, Long> before = new HashMap<>();
        Awaitility.await("use of every key " + when)
                .pollInterval(Duration.ofMillis(20))
                .atMost(PATIENCE)
                .until(() -> {
                    Map<String, Long> now = versions();
                    now.forEach(before::putIfAbsent);
                    return ShopClient.keys().stream()
                            .allMatch(key -> now.containsKey(key) && now.get(key) > before.get(key));
                });
    }

    private Map<String, Long> versions() {
        Map<String, Long> versions = new HashMap<>();
        try {
            site.applications().query(VERSIONS, row -> {
                versions.put(row.getString("key"), row.getLong("version"));
            });
        } catch (DataAccessException ex) {
            // The database is still starting.
            return Map.of();
        }
        return versions;
    }
}
