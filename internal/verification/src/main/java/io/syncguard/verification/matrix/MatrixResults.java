package io.syncguard.verification.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results of the campaigns. Each plan has a part, to which its campaigns add, so that they may run at different
 * times. The text has all existing parts.
 *
 * @param parts the directory of the parts
 */
record MatrixResults(Path parts) {

    /** The parts of the runs of this module. */
    static final MatrixResults OF_RUNS = new MatrixResults(Path.of("target", "matrix", "parts"));

    private static final String FILE = "matrix.txt";

    /** Outcomes with a separate column. All others count as failures. */
    private static final Set<String> KNOWN =
            Set.of(Call.OK, Call.OPEN, Call.DATABASE, "ACQUISITION_TIMEOUT", "LOST", "ABORTED");

    private static final Map<Integer, String> ROWS = new TreeMap<>(Map.ofEntries(
            Map.entry(0, "nothing happens"),
            Map.entry(1, "a process is killed"),
            Map.entry(2, "a process is paused for longer than its leases"),
            Map.entry(3, "the database is killed, or stands still"),
            Map.entry(4, "the network is cut"),
            Map.entry(5, "an answer is lost"),
            Map.entry(6, "a slow network"),
            Map.entry(7, "no connections are left"),
            Map.entry(9, "the server's clock jumps"),
            Map.entry(10, "a standby is promoted"),
            Map.entry(11, "old snapshots"),
            Map.entry(12, "the role's isolation is SERIALIZABLE, and locks of several keys cross"),
            Map.entry(13, "statements time out, or are cancelled"),
            Map.entry(14, "sessions are terminated"),
            Map.entry(15, "interrupts"),
            Map.entry(16, "a process ends while it holds locks"),
            Map.entry(17, "PgBouncer"),
            Map.entry(18, "the schema is changed"),
            Map.entry(19, "read-only, in recovery, a full disk"),
            Map.entry(20, "all processors are busy"),
            Map.entry(22, "Redis is killed, loses data, refuses, or fails over")));

    private static final JsonMapper JSON = new JsonMapper();

    /** Adds a campaign to the part of its plan. */
    void add(CampaignReport report) throws IOException {
        Files.createDirectories(parts);
        Path part = part(report.name());
        CampaignReport sum = Files.exists(part) ? read(part).plus(report) : report;
        JSON.writeValue(part, sum);
    }

    private Path part(String plan) {
        return parts.resolve(plan + ".json");
    }

    private static CampaignReport read(Path part) {
        return JSON.readValue(part, CampaignReport.class);
    }

    /** Writes the text into a directory. */
    void write(Path directory) throws IOException {
        StringBuilder text = new StringBuilder(
                "The fault matrix. Written by -Pmatrix: docs/internals/reliability.md explains it.\n");
        List<CampaignReport> reports = reports();
        text.append(rows(reports)).append(sum(reports));
        reports.forEach(report -> text.append(text(report)));
        Files.writeString(Files.createDirectories(directory).resolve(FILE), text);
    }

    private List<CampaignReport> reports() {
        return Plans.ALL.stream()
                .map(plan -> part(plan.name()))
                .filter(Files::exists)
                .map(MatrixResults::read)
                .toList();
    }

    /** The number of injections of each row of the matrix, in all campaigns on each kind of server. */
    private static String rows(List<CampaignReport> reports) {
        StringBuilder table = new StringBuilder(
                "\n| row | fault | rounds on PostgreSQL | on Redis | on MariaDB |\n|---|---|---|---|---|\n");
        ROWS.forEach((row, name) -> table.append(String.format(
                Locale.ROOT,
                "| %d | %s | %s | %s | %s |\n",
                row,
                name,
                rounds(reports, "postgres", row),
                rounds(reports, "redis", row),
                rounds(reports, "mariadb", row))));
        return table.toString();
    }

    private static String rounds(List<CampaignReport> reports, String server, int row) {
        int rounds = reports.stream()
                .filter(report -> report.name().startsWith(server))
                .flatMap(report -> report.faults().stream())
                .filter(fault -> fault.row() == row)
                .mapToInt(FaultReport::rounds)
                .sum();
        return rounds == 0 ? "–" : String.valueOf(rounds);
    }

    private static String sum(List<CampaignReport> reports) {
        return String.format(
                Locale.ROOT,
                "\nTogether: %d calls, %d requests to the store, %d violations.\n",
                reports.stream().mapToLong(CampaignReport::calls).sum(),
                reports.stream().mapToLong(CampaignReport::operations).sum(),
                reports.stream().mapToLong(report -> report.violations().size()).sum());
    }

    private static String text(CampaignReport report) {
        StringBuilder part = new StringBuilder("\n" + report.name() + "\n\n");
        part.append(report.site()).append("; ").append(report.first());
        if (!report.first().equals(report.last())) {
            part.append(" to ").append(report.last());
        }
        part.append(".\n");
        part.append(String.format(
                Locale.ROOT,
                "%d calls, %d requests to the store, %d violations",
                report.calls(),
                report.operations(),
                report.violations().size()));
        part.append("; effects without a guard that were committed after those of a later holder: ")
                .append(report.unguardedLate())
                .append(".\n");
        if (!report.notPromised().isEmpty()) {
            part.append("Not judged there, because ")
                    .append(report.notPromised())
                    .append(".\n");
        }
        part.append("\n| row | fault | rounds | calls | ok | not acquired | lost | interrupted | failed | database |"
                + " no holder for | used again after |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        report.faults().stream()
                .sorted(Comparator.comparingInt(FaultReport::row))
                .forEach(fault -> part.append(line(fault)));
        return part.toString();
    }

    private static String line(FaultReport fault) {
        Map<String, Long> outcomes = fault.outcomes();
        List<Object> columns = List.of(
                fault.row(),
                fault.name(),
                fault.rounds(),
                fault.calls(),
                of(outcomes, Call.OK),
                of(outcomes, "ACQUISITION_TIMEOUT"),
                of(outcomes, "LOST"),
                of(outcomes, "ABORTED"),
                outcomes.entrySet().stream()
                        .filter(outcome -> !KNOWN.contains(outcome.getKey()))
                        .mapToLong(Map.Entry::getValue)
                        .sum(),
                of(outcomes, Call.DATABASE),
                fault.longestGapMillis() + " ms",
                fault.longestRecoveryMillis() + " ms");
        StringBuilder line = new StringBuilder();
        columns.forEach(column -> line.append("| ").append(column).append(' '));
        return line.append("|\n").toString();
    }

    private static long of(Map<String, Long> outcomes, String outcome) {
        return outcomes.getOrDefault(outcome, 0L);
    }
}
