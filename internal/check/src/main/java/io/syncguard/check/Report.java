package io.syncguard.check;

import io.syncguard.check.Finding.Part;
import io.syncguard.check.Finding.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All findings of a check. It has no address, user, password, key or lock id of the application.
 *
 * @param facts of the run, such as the product and the time
 * @param times of operations, by their names
 */
record Report(Map<String, String> facts, List<Finding> findings, Map<String, String> times) {

    private static final String STYLE = """
            :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
            body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
            table { border-collapse: collapse; width: 100%; }
            th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886; }
            pre { overflow-x: auto; font-size: .8rem; white-space: pre-wrap; }
            .BROKEN { color: light-dark(#b00020, #ff8a80); font-weight: bold; }
            .WARNING { color: light-dark(#7a4b00, #ffcc80); font-weight: bold; }
            """;

    boolean isBroken() {
        return findings.stream().anyMatch(finding -> finding.verdict() == Verdict.BROKEN);
    }

    /** Returns a copy in which each of these words is a few stars. Short ones and numbers stay: they tell nothing. */
    Report without(List<String> words) {
        List<String> hidden = words.stream()
                .filter(word -> word.length() > 2 && !word.matches("[0-9]+|true|false|redis|rediss|tcp|mem"))
                .map(Pattern::quote)
                .toList();
        if (hidden.isEmpty()) {
            return this;
        }
        Pattern pattern = Pattern.compile("(?<![A-Za-z0-9])(" + String.join("|", hidden) + ")(?![A-Za-z0-9])");
        UnaryOperator<String> without = text -> pattern.matcher(text).replaceAll("***");
        return new Report(
                facts,
                findings.stream()
                        .map(finding -> new Finding(
                                finding.part(),
                                finding.verdict(),
                                finding.subject(),
                                without.apply(finding.text()),
                                without.apply(finding.advice()),
                                finding.evidence().stream().map(without).toList()))
                        .toList(),
                times);
    }

    /** The verdict in one sentence. */
    String summary() {
        long broken = count(Verdict.BROKEN);
        long warnings = count(Verdict.WARNING);
        long notTried = count(Verdict.NOT_TRIED);
        return (broken == 0 ? "No promise was broken" : "Broken promises: " + broken) + "; warnings: " + warnings
                + "; not tried: " + notTried + ".";
    }

    private long count(Verdict verdict) {
        return findings.stream().filter(finding -> finding.verdict() == verdict).count();
    }

    String toText() {
        StringBuilder text = new StringBuilder(summary()).append('\n');
        facts.forEach(
                (name, value) -> text.append(name).append(": ").append(value).append('\n'));
        advice().forEach(advice -> text.append("-> ").append(advice).append('\n'));
        for (Part part : Part.values()) {
            text.append("\n").append(part.title()).append('\n');
            of(part).forEach(finding -> text.append(finding.inLines()));
        }
        times.forEach(
                (name, value) -> text.append(name).append(": ").append(value).append('\n'));
        return text.toString();
    }

    /** What to set or to do, each once. */
    private List<String> advice() {
        return findings.stream()
                .map(Finding::advice)
                .filter(advice -> !advice.isEmpty())
                .distinct()
                .toList();
    }

    private List<Finding> of(Part part) {
        List<Finding> sorted = new ArrayList<>(
                findings.stream().filter(finding -> finding.part() == part).toList());
        sorted.sort(Comparator.comparing(Finding::verdict));
        return sorted;
    }

    String toJson() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("summary", summary());
        all.put("facts", facts);
        all.put("advice", advice());
        all.put("findings", findings);
        all.put("times", times);
        return JsonMapper.builder()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .build()
                .writeValueAsString(all);
    }

    String toHtml() {
        StringBuilder page = new StringBuilder("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
                .append("<meta name=\"viewport\" content=\"width=device-width\">\n<title>SyncGuard check</title>\n")
                .append("<style>")
                .append(STYLE)
                .append("</style>\n<h1>SyncGuard check</h1>\n<p>")
                .append(escaped(summary()))
                .append("</p>\n");
        if (!advice().isEmpty()) {
            page.append("<h2>What to do</h2>\n<ul>\n");
            advice().forEach(advice ->
                    page.append("<li>").append(escaped(advice)).append('\n'));
            page.append("</ul>\n");
        }
        table(page, "The run", facts);
        for (Part part : Part.values()) {
            page.append("<h2>").append(part.title()).append("</h2>\n<table>\n");
            for (Finding finding : of(part)) {
                row(page, finding);
            }
            page.append("</table>\n");
        }
        table(page, "Times (medians)", times);
        return page.append("</html>\n").toString();
    }

    private static void row(StringBuilder page, Finding finding) {
        page.append("<tr><td class=\"")
                .append(finding.verdict())
                .append("\">")
                .append(finding.verdict().name().toLowerCase(Locale.ROOT).replace('_', ' '))
                .append("<td>")
                .append(escaped(finding.subject()))
                .append("<td>")
                .append(escaped(finding.text()));
        if (!finding.advice().isEmpty()) {
            page.append("<br><strong>").append(escaped(finding.advice())).append("</strong>");
        }
        finding.evidence()
                .forEach(each -> page.append("<pre>").append(escaped(each)).append("</pre>"));
        page.append('\n');
    }

    private static void table(StringBuilder page, String title, Map<String, String> rows) {
        if (rows.isEmpty()) {
            return;
        }
        page.append("<h2>").append(title).append("</h2>\n<table>\n");
        rows.forEach((name, value) -> page.append("<tr><th scope=\"row\">")
                .append(escaped(name))
                .append("<td>")
                .append(escaped(value))
                .append('\n'));
        page.append("</table>\n");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** Writes the report as HTML, JSON and text into these files, with their endings. */
    void write(Path file) {
        try {
            Files.writeString(Path.of(file + ".html"), toHtml());
            Files.writeString(Path.of(file + ".json"), toJson());
            Files.writeString(Path.of(file + ".txt"), toText());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
