package io.syncguard.verification.model;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The result of a search.
 *
 * @param violated the name of the property that does not hold
 * @param complete whether all states were visited
 */
record Verdict(@Nullable String violated, boolean complete, long states, long depth, String output) {

    private static final Pattern VIOLATED = Pattern.compile("assertion violated (\\w+)");
    private static final Pattern STATES = Pattern.compile("([0-9.e+]+) states, stored");
    private static final Pattern DEPTH = Pattern.compile("depth reached (\\d+)");

    static Verdict of(String output) {
        Matcher violated = VIOLATED.matcher(output);
        return new Verdict(
                violated.find() ? violated.group(1) : output.contains("acceptance cycle (") ? "served" : null,
                output.contains("Full statespace search")
                        && output.contains("errors: 0")
                        && !output.contains("max search depth too small")
                        && !output.contains("Search not completed"),
                (long) number(STATES, output),
                (long) number(DEPTH, output),
                output);
    }

    private static double number(Pattern pattern, String output) {
        Matcher matcher = pattern.matcher(output);
        return matcher.find() ? Double.parseDouble(matcher.group(1)) : 0;
    }

    @Override
    public String toString() {
        return states + " states, depth " + depth + (complete ? "" : ", not complete");
    }
}
