package io.syncguard.benchmarks;

import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * The scale of a chart's values, which are positive.
 *
 * @param ticks round values in ascending order. The first and the last are the ends of the axis
 * @param scale maps a value to a figure that is proportional to the distance
 */
record Axis(List<Double> ticks, DoubleUnaryOperator scale) {

    private static final int MOST_STEPS = 6;

    /** An axis from zero to a round value that is not below the maximum. */
    static Axis linear(double max) {
        double step = roundUp(max / MOST_STEPS);
        int steps = (int) Math.ceil(max / step);
        return new Axis(
                IntStream.rangeClosed(0, steps).mapToObj(each -> each * step).toList(), value -> value);
    }

    /** An axis from a power of ten below the minimum to one that is not below the maximum. */
    static Axis logarithmic(double min, double max) {
        int first = (int) Math.ceil(Math.log10(min)) - 1;
        int last = (int) Math.ceil(Math.log10(max));
        return new Axis(
                IntStream.rangeClosed(first, last)
                        .mapToObj(power -> Math.pow(10, power))
                        .toList(),
                Math::log10);
    }

    /** The position of a value on the axis: 0 at the beginning, 1 at the end. */
    double position(double value) {
        double first = scale.applyAsDouble(ticks.get(0));
        double last = scale.applyAsDouble(ticks.get(ticks.size() - 1));
        return (scale.applyAsDouble(value) - first) / (last - first);
    }

    /** The next larger value that is 1, 2 or 5 times a power of ten. */
    private static double roundUp(double value) {
        double power = Math.pow(10, Math.floor(Math.log10(value)));
        return DoubleStream.of(1, 2, 5)
                .map(each -> each * power)
                .filter(each -> each >= value)
                .findFirst()
                .orElse(10 * power);
    }
}
