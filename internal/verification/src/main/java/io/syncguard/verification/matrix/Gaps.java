package io.syncguard.verification.matrix;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The times in which a key had no holder although a client waited for it. */
final class Gaps {

    /** A time in which a key had no holder and at least one waiter. */
    record Gap(String key, long from, long to) {

        long nanos() {
            return to - from;
        }

        long overlap(long begin, long end) {
            return Math.max(0, Math.min(to, end) - Math.max(from, begin));
        }
    }

    private record Change(long at, int waiters, int holders) {}

    private Gaps() {}

    /** A holder counts until its body or its process ends, a waiter from its call until its grant or failure. */
    static List<Gap> of(List<Call> calls, Absences absences) {
        return calls.stream().collect(Collectors.groupingBy(Call::key)).entrySet().stream()
                .flatMap(entry -> ofKey(entry.getKey(), entry.getValue(), absences).stream())
                .toList();
    }

    private static List<Gap> ofKey(String key, List<Call> calls, Absences absences) {
        List<Change> changes = calls.stream()
                .flatMap(call -> changes(call, absences))
                .sorted(Comparator.comparingLong(Change::at))
                .toList();
        List<Gap> gaps = new ArrayList<>();
        int waiters = 0;
        int holders = 0;
        long since = 0;
        for (Change change : changes) {
            boolean before = waiters > 0 && holders == 0;
            waiters += change.waiters;
            holders += change.holders;
            boolean after = waiters > 0 && holders == 0;
            if (!before && after) {
                since = change.at;
            } else if (before && !after) {
                gaps.add(new Gap(key, since, change.at));
            }
        }
        return gaps;
    }

    private static Stream<Change> changes(Call call, Absences absences) {
        long gone = Math.min(absences.endOf(call.process()), call.end() == 0 ? Long.MAX_VALUE : call.end());
        List<Change> changes = new ArrayList<>();
        if (call.waitMillis() > 0) {
            long waitedUntil = call.isGranted() ? call.granted() : gone;
            changes.add(new Change(call.start(), 1, 0));
            changes.add(new Change(waitedUntil, -1, 0));
        }
        if (call.isGranted()) {
            changes.add(new Change(call.granted(), 0, 1));
            changes.add(new Change(gone, 0, -1));
        }
        return changes.stream();
    }
}
