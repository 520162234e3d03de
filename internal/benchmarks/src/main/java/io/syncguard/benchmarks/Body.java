package io.syncguard.benchmarks;

import java.util.List;
import java.util.stream.Stream;

/**
 * The time in which a body ran under the lock.
 *
 * @param thread the number of its thread in its process
 * @param began the time at its first instruction, as {@link System#nanoTime}
 * @param ended the time at its last one
 */
record Body(int thread, long began, long ended) {

    @Override
    public String toString() {
        return thread + ":" + began + ":" + ended;
    }

    /** Parses bodies as texts with blanks between them. */
    static List<Body> parse(String line) {
        return Stream.of(line.split(" "))
                .map(text -> text.split(":"))
                .map(parts -> new Body(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2])))
                .toList();
    }
}
