package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/** The clock of a simulation in milliseconds, its steps in order of time, its random choices, and the events so far. */
final class SimulatedTime {

    private static final long MILLI = 1_000_000;

    private final Random random;
    private final List<HistoryEvent> events = new ArrayList<>();
    private final PriorityQueue<Step> steps = new PriorityQueue<>(Comparator.comparingLong(Step::at));

    /** The time of the current step. */
    private long clock;

    private boolean stopping;

    SimulatedTime(long seed) {
        this.random = new Random(seed);
    }

    private record Step(long at, Runnable action) {}

    /** Runs this many steps, and then the steps that answer pending requests. */
    void run(int count) {
        for (int i = 0; !steps.isEmpty(); i++) {
            // Pending requests are answered; no new work begins.
            stopping = i >= count;
            steps.remove().action().run();
        }
    }

    void later(long from, long delay, Runnable action) {
        long at = from + delay;
        steps.add(new Step(at, () -> {
            clock = at;
            action.run();
        }));
    }

    long now() {
        return clock;
    }

    boolean isStopping() {
        return stopping;
    }

    int random(int bound) {
        return random.nextInt(bound);
    }

    boolean randomBoolean() {
        return random.nextBoolean();
    }

    HistoryEvent event(String process, Kind kind, String lock, long start) {
        return HistoryEvent.of(kind, new Source(process, "client", events.size()), "key", lock, start * MILLI);
    }

    void record(HistoryEvent event) {
        events.add(event);
    }

    List<HistoryEvent> events() {
        return events;
    }
}
