package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.List;

/**
 * A random simulation of the model in simulated time: a few readers, with and without permits, and writers of one key,
 * a server that acts at some time between request and answer, and answers that get lost. Its history obeys the
 * contract, unless it simulates a bug.
 */
final class HistorySimulator {

    private static final int CALLERS = 5;

    /** A bug of the server, or of a client. */
    enum Bug {
        NONE,
        READERS_PASS_WAITING_WRITERS,
        WRITERS_PASS_EACH_OTHER,
        WRITERS_IGNORE_READERS,
        READERS_IGNORE_WRITERS,
        TRIES_PASS_WHO_WAITS,
        RELEASE_OF_A_READER_FREES_ALL,
        READERS_STOP_READERS,
        ONE_PERMIT_TOO_MANY,
        LARGER_NUMBERS_PASS_SMALLER_ONES,
        READERS_PASS_WHO_WAITS_FOR_PERMITS,
        LAST_PERMIT_IS_NOT_GIVEN,
        PERMITS_IGNORE_WRITERS,
        THE_LAST_QUEUES_FIRST,
        THE_LAST_IS_HANDED_THE_KEY,
        FIRST_LEASES_COUNT_FROM_THE_MESSAGE
    }

    private final SimulatedTime time;
    private final SimulatedServer server;
    private final SimulatedWakeUps wakeUps;

    private HistorySimulator(long seed, Bug bug) {
        this.time = new SimulatedTime(seed);
        this.wakeUps = new SimulatedWakeUps(time, bug);
        this.server = new SimulatedServer(bug, wakeUps);
    }

    /** Simulates this many steps of a key. */
    static List<HistoryEvent> simulate(long seed, int steps) {
        return simulate(seed, steps, Bug.NONE);
    }

    static List<HistoryEvent> simulate(long seed, int steps, Bug bug) {
        return new HistorySimulator(seed, bug).simulate(steps);
    }

    private List<HistoryEvent> simulate(int steps) {
        for (int i = 0; i < CALLERS; i++) {
            SimulatedCaller caller = new SimulatedCaller("p" + i % 2, time, server, wakeUps);
            time.later(0, time.random(20), caller::next);
        }
        time.run(steps);
        HistoryEvent end = time.event("test", Kind.COUNTER, "", time.now() + 1000);
        time.record(end.answered(end.start(), Outcome.OK).with(Lease.ofFence(server.counter())));
        return time.events();
    }
}
