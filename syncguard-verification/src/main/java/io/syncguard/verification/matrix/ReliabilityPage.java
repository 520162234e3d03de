package io.syncguard.verification.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The results of the campaigns in the documentation. Each campaign leaves its part in a file, so that they may run at
 * different times; the page gets all parts that there are.
 */
final class ReliabilityPage {

    private static final String BEGIN = "<!-- matrix: written by the harness -->\n";
    private static final String END = "<!-- end of matrix -->";

    private static final Path PARTS = Path.of("target", "matrix", "parts");

    /** Outcomes with a column of their own; all others are failures. */
    private static final Set<String> KNOWN =
            Set.of(Call.OK, Call.OPEN, Call.DATABASE, "ACQUISITION_TIMEOUT", "LOST", "ABORTED");

    private ReliabilityPage() {}

    /** Keeps the part of this campaign. */
    static void keep(CampaignReport report) throws IOException {
        Files.createDirectories(PARTS);
        Files.writeString(PARTS.resolve(report.name() + ".md"), part(report));
    }

    /** Replaces the results in the page. */
    static void write(Path page) throws IOException {
        StringBuilder parts = new StringBuilder();
        for (Plan<?> plan : Plans.ALL) {
            Path part = PARTS.resolve(plan.name() + ".md");
            if (Files.exists(part)) {
                parts.append(Files.readString(part));
            }
        }
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalStateException(page + " has no place for the results: " + BEGIN + "and " + END);
        }
        Files.writeString(page, text.substring(0, begin + BEGIN.length()) + parts + text.substring(end));
    }

    private static String part(CampaignReport report) {
        StringBuilder part = new StringBuilder("\n### `" + report.name() + "`\n\n");
        part.append(report.site()).append(".\n");
        part.append("%d calls, %d requests to the store, **%d violations**"
                .formatted(
                        report.calls(), report.operations(), report.violations().size()));
        part.append("; %d effects without a guard were committed after those of a later holder.\n"
                .formatted(report.unguardedLate()));
        if (!report.notPromised().isEmpty()) {
            part.append("Not judged there, because ")
                    .append(report.notPromised())
                    .append(".\n");
        }
        part.append("\n| row | fault | rounds | calls | ok | not acquired | lost | interrupted | failed | database |"
                + " no holder for | used again after |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        report.faults().forEach(fault -> part.append(line(fault)));
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
