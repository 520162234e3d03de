package io.syncguard.verification.matrix;

import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.testing.PostgresServer;
import io.syncguard.verification.Trial;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.matrix.Fleet.Load;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.core.ConditionTimeoutException;

/** A short campaign on PostgreSQL as a trial. */
public final class CampaignTrial implements Trial {

    private static final long WAIT_MILLIS = 2000;
    private static final long LONG_WAIT_MILLIS = 15_000;
    private static final Duration TOLERANCE = Duration.ofSeconds(1);

    /** The faults of one trial, in the words of the report. */
    public enum Faults {
        NO_FAULT,
        KILLED_PROCESSES,
        PAUSED_PROCESSES,
        LATE_COMMITS,
        LOST_ANSWERS,
        SERVER_RESTARTS
    }

    private final Faults faults;
    private final int rounds;
    private final long waitMillis;

    private CampaignTrial(Faults faults, int rounds, long waitMillis) {
        this.faults = faults;
        this.rounds = rounds;
        this.waitMillis = waitMillis;
    }

    /** @param rounds of each fault in one run */
    public static CampaignTrial with(Faults faults, int rounds) {
        return new CampaignTrial(faults, rounds, WAIT_MILLIS);
    }

    /** Returns a trial whose wait time is longer than any delay by a dead waiter's entry or a lost wake-up. */
    public CampaignTrial withLongWaits() {
        return new CampaignTrial(faults, rounds, LONG_WAIT_MILLIS);
    }

    @Override
    public Verdict run(Bug bug, long seed) throws Exception {
        Load usual = Load.USUAL;
        Load load = new Load(
                usual.processes(),
                usual.clients(),
                usual.ttlMillis(),
                waitMillis,
                bug,
                usual.names(),
                usual.immortal());
        Plan<PostgresSite> plan = Plan.of("planted", () -> siteWith(bug, usual.processes()), this::faultsAndCalm)
                .with(load);
        try {
            CampaignReport report = plan.run(rounds, seed, TOLERANCE);
            return new Verdict(report.operations(), report.violations());
        } catch (ConditionTimeoutException ex) {
            return new Verdict(0, List.of("NO PROGRESS: " + ex.getMessage()));
        }
    }

    /** Creates a site with the schema already there: the processes do not change it. */
    private static PostgresSite siteWith(Bug bug, int processes) {
        PostgresSite site = new PostgresSite(processes);
        DataSource owner =
                PostgresServer.dataSource(PostgresSite.url(site.server().port()));
        new PostgresSchema(owner, PostgresTables.DEFAULT).initialize();
        bug.install(owner);
        return site;
    }

    private List<Fault> faultsAndCalm(PostgresSite site, Fleet fleet, Load load) {
        return Stream.concat(
                        choose(site, fleet, load).stream(),
                        Stream.of(Fault.calm().everyNth(rounds)))
                .toList();
    }

    /** The faults of this trial. Most are one row of the matrix. */
    private List<Fault> choose(PostgresSite site, Fleet fleet, Load load) {
        List<Fault> processes = new ProcessFaults(fleet, load).all();
        return switch (faults) {
            case NO_FAULT -> List.of();
            case KILLED_PROCESSES -> ofRow(1, processes);
            case PAUSED_PROCESSES -> ofRow(2, processes);
            case LATE_COMMITS -> new CommitFaults(fleet, site, load.ttlMillis()).all();
            case LOST_ANSWERS -> ofRow(5, new LinkFaults(site.links(), load).all());
            case SERVER_RESTARTS -> ofRow(3, new PostgresServerFaults(site).all());
        };
    }

    /** The faults of the row, each as often as the most frequent one. */
    private static List<Fault> ofRow(int row, List<Fault> faults) {
        return faults.stream()
                .filter(fault -> fault.row() == row)
                .map(fault -> fault.everyNth(1))
                .toList();
    }

    @Override
    public String toString() {
        return "matrix, " + faults.name().toLowerCase(Locale.ROOT).replace('_', ' ')
                + (waitMillis == WAIT_MILLIS ? "" : ", long waits");
    }
}
