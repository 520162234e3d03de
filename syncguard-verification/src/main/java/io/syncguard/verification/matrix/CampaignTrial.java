package io.syncguard.verification.matrix;

import io.syncguard.testing.ChangedLibrary;
import io.syncguard.verification.Trial;
import io.syncguard.verification.matrix.Fleet.Load;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** A short campaign on PostgreSQL as a trial. */
public final class CampaignTrial implements Trial {

    private static final long TTL_MILLIS = 1000;
    private static final long WAIT_MILLIS = 2000;
    private static final long LONG_WAIT_MILLIS = 15_000;
    private static final long LONG_TTL_MILLIS = 20_000;
    private static final Duration TOLERANCE = Duration.ofSeconds(1);

    /** The faults of one trial, in the words of the report. */
    public enum Faults {
        NO_FAULT,
        KILLED_PROCESSES,
        PAUSED_PROCESSES,
        LATE_COMMITS,
        LINKS,
        SLOW_LINKS,
        LOST_ANSWERS,
        SERVER_RESTARTS,
        SERVER_STANDSTILLS
    }

    private final Faults faults;
    private final int rounds;
    private final long ttlMillis;
    private final long waitMillis;

    private CampaignTrial(Faults faults, int rounds, long ttlMillis, long waitMillis) {
        this.faults = faults;
        this.rounds = rounds;
        this.ttlMillis = ttlMillis;
        this.waitMillis = waitMillis;
    }

    /** @param rounds of each fault in one run */
    public static CampaignTrial with(Faults faults, int rounds) {
        return new CampaignTrial(faults, rounds, TTL_MILLIS, WAIT_MILLIS);
    }

    /** Callers wait for longer than the entry of a dead waiter, or a lost wake-up, may delay them. */
    public CampaignTrial withLongWaits() {
        return new CampaignTrial(faults, rounds, ttlMillis, LONG_WAIT_MILLIS);
    }

    /** Nobody can wait for the end of a lease; keys are handed over. */
    public CampaignTrial withLongLeases() {
        return new CampaignTrial(faults, rounds, LONG_TTL_MILLIS, waitMillis);
    }

    @Override
    public Verdict run(ChangedLibrary library, long seed) throws Exception {
        Load usual = Load.USUAL;
        Load load = new Load(
                usual.processes(),
                usual.clients(),
                ttlMillis,
                waitMillis,
                library.directory().toString(),
                usual.names(),
                usual.immortal());
        Plan<PostgresSite> plan = Plan.of("planted", () -> new PostgresSite(usual.processes()), this::faultsAndCalm)
                .with(load);
        try {
            CampaignReport report = plan.run(rounds, seed, TOLERANCE);
            return new Verdict(report.operations(), report.violations());
        } catch (ConditionTimeoutException ex) {
            return new Verdict(0, List.of("NO PROGRESS: " + ex.getMessage()));
        }
    }

    private List<Fault> faultsAndCalm(PostgresSite site, Fleet fleet, Load load) {
        return Stream.concat(
                        choose(site, fleet, load).stream(),
                        Stream.of(Fault.calm().everyNth(rounds)))
                .toList();
    }

    /** Those of one row of the matrix. */
    private List<Fault> choose(PostgresSite site, Fleet fleet, Load load) {
        List<Fault> processes = new ProcessFaults(fleet, load).all();
        List<Fault> links = new LinkFaults(site.links(), load).all();
        List<Fault> server = new PostgresServerFaults(site).all();
        return switch (faults) {
            case NO_FAULT -> List.of();
            case KILLED_PROCESSES -> ofRow(1, processes);
            case PAUSED_PROCESSES -> ofRow(2, processes);
            case LATE_COMMITS -> new CommitFaults(fleet, site, ttlMillis).all();
            case LINKS -> ofRow(4, links);
            case LOST_ANSWERS -> ofRow(5, links);
            case SLOW_LINKS -> ofRow(6, links);
            case SERVER_RESTARTS -> ofRow(3, server);
            case SERVER_STANDSTILLS ->
                List.of(Fault.of(3, "the server stands still for long", random -> {
                    Runnable goOn = site.server().freeze();
                    LinkFaults.pause(random, 2 * Site.NETWORK_TIMEOUT_MILLIS, 3 * Site.NETWORK_TIMEOUT_MILLIS);
                    goOn.run();
                }));
        };
    }

    /** All as often as the most frequent. */
    private static List<Fault> ofRow(int row, List<Fault> faults) {
        return faults.stream()
                .filter(fault -> fault.row() == row)
                .map(fault -> fault.everyNth(1))
                .toList();
    }

    @Override
    public String toString() {
        return "matrix, " + faults.name().toLowerCase(Locale.ROOT).replace('_', ' ')
                + (waitMillis == WAIT_MILLIS ? "" : ", long waits")
                + (ttlMillis == TTL_MILLIS ? "" : ", long leases");
    }
}
