package io.syncguard;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Durations and names as messages show them. */
public final class MessageText {

    /** The most chars of a text that somebody else has written. */
    private static final int MAX_CHARS = 512;

    /** The most names that a message lists, and among which it looks for a similar one. */
    private static final int MAX_NAMES = 100;

    private MessageText() {}

    /** The beginning of a long text of a client or of a store: 512 chars and an ellipsis. */
    public static String shortened(String text) {
        if (text.length() <= MAX_CHARS) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
        return text.substring(0, end) + "\u2026";
    }

    /** The names in their order, as in {@code [north, south]}; of many only their number. */
    public static String listed(Collection<String> names) {
        return names.size() > MAX_NAMES ? names.size() + " others" : new TreeSet<>(names).toString();
    }

    /** The duration as it is written in a property: {@code 30s}, {@code 1500ms}, {@code 1m30s}. */
    public static String of(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        if (duration.isNegative()) {
            // The smallest duration has no positive one.
            return duration.equals(Duration.ofSeconds(Long.MIN_VALUE))
                    ? duration.toString()
                    : "-" + of(duration.negated());
        }
        boolean inMillis = duration.toMillisPart() != 0 && duration.toMinutes() == 0;
        return part(duration.toDays(), "d")
                + part(duration.toHoursPart(), "h")
                + part(duration.toMinutesPart(), "m")
                + part(inMillis ? 0 : duration.toSecondsPart(), "s")
                + part(inMillis ? duration.toMillis() : duration.toMillisPart(), "ms")
                + part(duration.toNanosPart() / 1_000 % 1_000, "us")
                + part(duration.toNanosPart() % 1_000, "ns");
    }

    /** The known name that is most like the unknown one; {@code null} if none is similar. */
    static @Nullable String nearest(String unknown, Collection<String> known) {
        // A known name is spelt right: something else is wrong.
        int limit = known.contains(unknown) ? -1 : Math.min(3, unknown.length() / 2);
        return known.stream()
                .limit(MAX_NAMES)
                .filter(name -> Math.abs(name.length() - unknown.length()) <= limit)
                .filter(name -> distance(unknown, name) <= limit)
                .min(Comparator.comparingInt((String name) -> distance(unknown, name))
                        .thenComparing(Comparator.naturalOrder()))
                .orElse(null);
    }

    /**
     * What to do about an unknown name: first the suggestion of a similar one, if there is one.
     *
     * @param correct what to do then
     * @param others what else to do
     */
    public static String[] nextSteps(String unknown, Collection<String> known, String correct, String... others) {
        String nearest = nearest(unknown, known);
        Stream<String> first = nearest != null
                ? Stream.of("Did you mean '" + nearest + "'? " + correct)
                : others.length == 0 ? Stream.of(correct) : Stream.empty();
        return Stream.concat(first, Stream.of(others)).toArray(String[]::new);
    }

    private static String part(long value, String unit) {
        return value == 0 ? "" : value + unit;
    }

    /** The number of characters to insert, to delete or to replace, whatever their case. */
    private static int distance(String from, String to) {
        String a = from.toLowerCase(Locale.ROOT);
        String b = to.toLowerCase(Locale.ROOT);
        int[] costs = new int[b.length() + 1];
        Arrays.setAll(costs, i -> i);
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = costs[0];
            costs[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = costs[j];
                costs[j] = Math.min(replaced, Math.min(costs[j], costs[j - 1]) + 1);
            }
        }
        return costs[b.length()];
    }
}
