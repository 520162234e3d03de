package io.syncguard.verification.matrix;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The results of soaks: a text with the figures of all plans, and a chart for each plan. */
final class SoakResults {

    private static final String FILE = "soak.txt";

    private static final String TITLE = "The soak. Written by -Psoak: docs/internals/reliability.md explains it.\n";

    private static final int WIDTH = 900;
    private static final int HEIGHT = 480;
    private static final double MINUTE = 60;
    private static final double PERCENT = 100;

    private SoakResults() {}

    /** Replaces the figures of this plan in the text, and its chart. */
    static void write(Path directory, Soak.Report report) throws IOException {
        String name = "soak-" + report.campaign().name();
        Path file = Files.createDirectories(directory).resolve(FILE);
        String before = Files.exists(file) ? Files.readString(file) : TITLE;
        Files.writeString(file, replace(before, name, text(name, report)));
        VectorGraphicsEncoder.saveVectorGraphic(
                chart(report), directory.resolve(name + ".svg").toString(), VectorGraphicsFormat.SVG);
    }

    /** Replaces a part. It begins with its name on a line, and ends before the next part. */
    private static String replace(String text, String name, String part) {
        int from = text.indexOf("\n" + name + "\n");
        if (from < 0) {
            return text + part;
        }
        int to = text.indexOf("\nsoak-", from + 1);
        return text.substring(0, from) + part + (to < 0 ? "" : text.substring(to));
    }

    private static String text(String name, Soak.Report report) {
        CampaignReport campaign = report.campaign();
        StringBuilder text = new StringBuilder("\n%s\n\n%s\n".formatted(name, campaign.site()));
        text.append(String.format(
                Locale.ROOT,
                "%s, %d minutes, %d faults: %d calls, %d requests to the store, %d violations.\n",
                campaign.first(),
                report.settings().duration().toMinutes(),
                campaign.faults().stream()
                        .filter(fault -> fault.row() > 0)
                        .mapToInt(FaultReport::rounds)
                        .sum(),
                campaign.calls(),
                campaign.operations(),
                report.violations().size()));
        text.append("\n| | first | second quarter, median | last quarter, median | at rest |\n|---|---|---|---|---|\n");
        report.series().forEach(series -> text.append(line(series)));
        return text.toString();
    }

    private static String line(Series series) {
        List<Double> values = series.values();
        return String.format(
                Locale.ROOT,
                "| %s | %.1f | %.1f | %.1f | %.1f |%n",
                series.name(),
                values.get(0),
                series.early(),
                series.late(),
                values.get(values.size() - 1));
    }

    private static XYChart chart(Soak.Report report) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title("Percent of the median of the second quarter")
                .xAxisTitle("minutes")
                .build();
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
        chart.getStyler().setChartBackgroundColor(Color.WHITE);
        chart.getStyler().setYAxisMin(0.0);
        report.series()
                .forEach(series -> chart.addSeries(
                                series.name(),
                                series.seconds().stream()
                                        .mapToDouble(second -> second / MINUTE)
                                        .toArray(),
                                series.values().stream()
                                        .mapToDouble(value -> PERCENT * value / series.early())
                                        .toArray())
                        .setMarker(SeriesMarkers.NONE));
        return chart;
    }
}
