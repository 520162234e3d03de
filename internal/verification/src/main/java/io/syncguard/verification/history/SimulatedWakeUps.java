package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistorySimulator.Bug;
import java.util.HashMap;
import java.util.Map;

/** The messages of a simulation from the server to the waiters: wake-ups and hand-overs, some of which get lost. */
final class SimulatedWakeUps {

    private final SimulatedTime time;
    private final SimulatedServer server;
    private final Bug bug;

    /** The waiters by lock id. */
    private final Map<String, SimulatedWaiter> waiters = new HashMap<>();

    SimulatedWakeUps(SimulatedTime time, SimulatedServer server, Bug bug) {
        this.time = time;
        this.server = server;
        this.bug = bug;
    }

    /** @return a new lock id */
    String newLock() {
        return "lock" + (waiters.size() + 1);
    }

    /** Delivers the messages for the lock id to this waiter. */
    void subscribe(String lock, SimulatedWaiter waiter) {
        waiters.put(lock, waiter);
    }

    Outcome acquire(HistoryEvent asked, boolean waits) {
        Outcome outcome = server.acquire(asked, waits, time.now());
        if (outcome == Outcome.REFUSED) {
            wake();
        }
        return outcome;
    }

    /** Wakes the grantable waiters; some wake-ups get lost. */
    void wake() {
        for (String lock : server.grantable(time.now())) {
            if (time.random(100) < 95) {
                time.later(time.now(), time.random(10), () -> waiters.get(lock).wake());
            }
        }
    }

    /** Sends the pending hand-overs, each of which may get lost. */
    void handOver() {
        for (SimulatedServer.Entry entry : server.handOver(time.now())) {
            if (time.random(100) >= 95) {
                continue;
            }
            SimulatedServer.Row row = server.row(entry.lock());
            boolean late = bug == Bug.FIRST_LEASES_COUNT_FROM_THE_MESSAGE;
            time.later(
                    time.now(), time.random(10), () -> waiters.get(entry.lock()).receive(entry, row, late));
        }
    }
}
