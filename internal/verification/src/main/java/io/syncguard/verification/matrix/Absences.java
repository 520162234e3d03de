package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Fleet.Absence;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The times in which processes or the whole machine stood still. Late ticks of a thread here show the latter. */
final class Absences implements AutoCloseable {

    private static final long TICK_NANOS = 20_000_000;

    /** If a tick is this late, the processes did not run either. */
    private static final long LATE_NANOS = 100_000_000;

    private static final String ALL = "";

    private final List<Absence> absences = new ArrayList<>();
    private final Thread watch = new Thread(this::watch, "stalls");
    private volatile boolean ended;

    Absences() {
        watch.setDaemon(true);
        watch.start();
    }

    private void watch() {
        long before = System.nanoTime();
        while (!ended) {
            LockSupport.parkNanos(TICK_NANOS);
            long now = System.nanoTime();
            if (now - before > TICK_NANOS + LATE_NANOS) {
                add(List.of(new Absence(ALL, before, now)));
            }
            before = now;
        }
    }

    synchronized void add(List<Absence> more) {
        absences.addAll(more);
    }

    /** How long the process, or the machine, stood still between these times. */
    synchronized long within(String process, long from, long to) {
        return absences.stream()
                .filter(absence ->
                        absence.process().equals(ALL) || absence.process().equals(process))
                .mapToLong(absence -> Math.max(0, Math.min(to, absence.to()) - Math.max(from, absence.from())))
                .sum();
    }

    /** How long the machine stood still between these times. */
    long ofMachine(long from, long to) {
        return within(ALL, from, to);
    }

    /** The time at which the process was killed or ended; the largest value if it still runs. */
    synchronized long endOf(String process) {
        return absences.stream()
                .filter(absence -> absence.process().equals(process) && absence.to() == Long.MAX_VALUE)
                .mapToLong(Absence::from)
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }

    /** Whether the process ended or stood still at some time between these. */
    synchronized boolean isAbsent(String process, long from, long to) {
        return absences.stream().anyMatch(absence -> absence.process().equals(process) && isBetween(absence, from, to));
    }

    /** Whether any process ended or stood still at some time between these. */
    synchronized boolean isAnyAbsent(long from, long to) {
        return absences.stream().anyMatch(absence -> !absence.process().equals(ALL) && isBetween(absence, from, to));
    }

    /** Whether the absence overlaps this time. The end of a process counts as a moment. */
    private static boolean isBetween(Absence absence, long from, long to) {
        long until = absence.to() == Long.MAX_VALUE ? absence.from() : absence.to();
        return absence.from() < to && until > from;
    }

    @Override
    public void close() {
        ended = true;
    }
}
