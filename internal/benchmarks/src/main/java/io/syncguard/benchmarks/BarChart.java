package io.syncguard.benchmarks;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.Map;

/**
 * Groups of horizontal bars, each with its name on the left and its value at the end, as SVG. The picture has its own
 * background, so it is readable on light and dark pages.
 *
 * @param unit the meaning of the values, written below the axis
 * @param groups the values of the bars by the name of the group and the name of the bar; the first bar of each group is
 *     emphasised
 */
record BarChart(String title, String unit, Axis axis, Map<String, Map<String, Double>> groups) {

    private static final int WIDTH = 900;

    /** The left end of the bars. The names stand left of it, the value of the longest bar right of the right end. */
    private static final int LEFT = 220;

    private static final int RIGHT = 820;

    private static final int TOP = 60;

    private static final int GROUP_HEIGHT = 34;

    private static final int BAR_HEIGHT = 20;

    private static final int AXIS_HEIGHT = 64;

    /** Other colours for readers who prefer dark pages. */
    private static final String DARK = "  <style>@media (prefers-color-scheme: dark){"
            + "[fill=\"#ffffff\"]{fill:#0d1117}"
            + "[stroke=\"#9ca3af\"]{stroke:#6e7681}"
            + "[fill=\"#111827\"]{fill:#f0f6fc}"
            + "[fill=\"#374151\"]{fill:#c9d1d9}"
            + "[stroke=\"#d1d5db\"]{stroke:#30363d}"
            + "[fill=\"#9ca3af\"]{fill:#6e7681}"
            + "[fill=\"#2563eb\"]{fill:#58a6ff}"
            + "}</style>";

    /** More digits than a round number has, fewer than a floating-point error needs. */
    private static final MathContext TICK_DIGITS = new MathContext(3);

    /** The SVG document. */
    String svg() {
        int bottom = TOP + groups.values().stream().mapToInt(BarChart::height).sum() + 8;
        StringBuilder svg = new StringBuilder();
        begin(svg, bottom + AXIS_HEIGHT);
        drawAxis(svg, bottom);
        int top = TOP;
        for (Map.Entry<String, Map<String, Double>> group : groups.entrySet()) {
            drawGroup(svg, top, group.getKey(), group.getValue());
            top += height(group.getValue());
        }
        return svg.append("</svg>\n").toString();
    }

    /** Formats a value: at least three digits if it has a fraction, groups of three digits if it is long. */
    static String text(double value) {
        String format = value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value).replace(',', '\u00a0');
    }

    private static int height(Map<String, Double> bars) {
        return GROUP_HEIGHT + bars.size() * BAR_HEIGHT;
    }

    private void begin(StringBuilder svg, int height) {
        svg.append(String.format(
                Locale.ROOT, """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" \
                font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13" role="img" \
                aria-labelledby="title desc">
                  <title id="title">%3$s</title>
                  <desc id="desc">%4$s</desc>
                %7$s
                  <rect x="1" y="1" width="%5$d" height="%6$d" rx="10" fill="#ffffff" stroke="#9ca3af"/>
                """, WIDTH, height, escape(title), escape(unit), WIDTH - 2, height - 2, DARK));
        drawText(svg, 24, 34, "fill=\"#111827\" font-size=\"17\" font-weight=\"600\"", title);
    }

    private void drawAxis(StringBuilder svg, int bottom) {
        for (double tick : axis.ticks()) {
            long x = x(tick);
            svg.append(String.format(Locale.ROOT, "  <path d=\"M%d %dV%d\" stroke=\"#d1d5db\"/>\n", x, TOP, bottom));
            drawText(svg, x, bottom + 18, "fill=\"#374151\" text-anchor=\"middle\"", tickText(tick));
        }
        long middle = (LEFT + RIGHT) / 2;
        drawText(svg, middle, bottom + 42, "fill=\"#374151\" text-anchor=\"middle\"", unit);
    }

    private void drawGroup(StringBuilder svg, int top, String name, Map<String, Double> bars) {
        int y = top + GROUP_HEIGHT - 8;
        drawText(svg, 24, y, "fill=\"#111827\" font-weight=\"600\"", name);
        boolean first = true;
        for (Map.Entry<String, Double> bar : bars.entrySet()) {
            y += BAR_HEIGHT;
            drawBar(svg, y, bar, first);
            first = false;
        }
    }

    private void drawBar(StringBuilder svg, int baseline, Map.Entry<String, Double> bar, boolean emphasised) {
        String weight = emphasised ? " font-weight=\"600\"" : "";
        String value = text(bar.getValue());
        long length = x(bar.getValue()) - LEFT;
        drawText(svg, LEFT - 8, baseline, "fill=\"#111827\" text-anchor=\"end\"" + weight, bar.getKey());
        svg.append(String.format(
                Locale.ROOT,
                """
                  <rect class="bar" x="%d" y="%d" width="%d" height="%d" fill="%s"><title>%s</title></rect>
                """,
                LEFT,
                baseline - 11,
                Math.max(1, length),
                BAR_HEIGHT - 6,
                emphasised ? "#2563eb" : "#9ca3af",
                escape(bar.getKey() + ": " + value)));
        drawText(svg, LEFT + length + 6, baseline, "fill=\"#111827\"" + weight, value);
    }

    private long x(double value) {
        return Math.round(LEFT + (RIGHT - LEFT) * axis.position(value));
    }

    private static void drawText(StringBuilder svg, long x, int y, String style, String text) {
        svg.append(String.format(Locale.ROOT, "  <text x=\"%d\" y=\"%d\" %s>%s</text>\n", x, y, style, escape(text)));
    }

    /** Formats a tick with as few digits as possible. */
    private static String tickText(double tick) {
        return tick >= 100
                ? text(tick)
                : new BigDecimal(tick, TICK_DIGITS).stripTrailingZeros().toPlainString();
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
