package io.syncguard.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of {@link Compare}.
 *
 * @param names the names of the measurements; empty for all
 * @param charts the directory for charts, if the caller wants them
 */
record Arguments(
        Rounds rounds, List<String> names, @Nullable Path charts) {

    private static final int MOST_SECONDS = 20;

    static Arguments parse(String... words) {
        List<String> rest = new ArrayList<>(List.of(words));
        Path charts = charts(rest);
        boolean isShort = rest.remove("--short");
        if (isShort) {
            return new Arguments(Rounds.SHORT, rest, charts);
        }
        int rounds = rest.isEmpty() ? 5 : Integer.parseInt(rest.get(0));
        int seconds = rest.size() < 2 ? 4 : Integer.parseInt(rest.get(1));
        if (rounds < 1 || seconds < 1 || seconds > MOST_SECONDS) {
            throw new IllegalArgumentException("At least 1 round, of 1 to " + MOST_SECONDS + " seconds");
        }
        return new Arguments(
                new Rounds(rounds, Duration.ofSeconds(seconds), true),
                rest.subList(Math.min(2, rest.size()), rest.size()),
                charts);
    }

    /** Removes the option for charts with its value. */
    private static @Nullable Path charts(List<String> words) {
        int option = words.indexOf("--charts");
        if (option < 0) {
            return null;
        }
        if (option + 1 == words.size()) {
            throw new IllegalArgumentException("--charts needs a directory");
        }
        words.remove(option);
        return Path.of(words.remove(option));
    }
}
