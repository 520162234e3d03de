package io.syncguard.verification.matrix;

import java.util.ArrayList;
import java.util.List;

/** One figure over the time of a run: seconds since the start, and values. Used by one thread at a time. */
final class Series {

    /** Growth means that the last quarter exceeds the second by this factor: more than the noise of a median. */
    private static final double FACTOR = 1.2;

    /** It must also be larger by this number: counts are small, and some are not of the library. */
    private static final double MORE = 3;

    private final String name;
    private final List<Double> seconds = new ArrayList<>();
    private final List<Double> values = new ArrayList<>();

    Series(String name) {
        this.name = name;
    }

    void add(double second, double value) {
        seconds.add(second);
        values.add(value);
    }

    String name() {
        return name;
    }

    List<Double> seconds() {
        return seconds;
    }

    List<Double> values() {
        return values;
    }

    /** The median of the second quarter, which is after the warm-up. */
    double early() {
        return median(0.25, 0.5);
    }

    /** The median of the last quarter. */
    double late() {
        return median(0.75, 1);
    }

    boolean grows() {
        return late() > FACTOR * early() + MORE;
    }

    private double median(double from, double to) {
        double last = seconds.get(seconds.size() - 1);
        List<Double> part = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            if (seconds.get(i) >= from * last && seconds.get(i) <= to * last) {
                part.add(values.get(i));
            }
        }
        return part.stream().sorted().toList().get(part.size() / 2);
    }
}
