package io.syncguard.verification.history;

import io.syncguard.rules.WakeUp;
import io.syncguard.verification.history.HistorySimulator.Bug;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The messages of a simulation from the server to the waiters: wake-ups and hand-overs, some of which get lost. */
final class SimulatedWakeUps {

    private final SimulatedTime time;
    private final Bug bug;

    /** The waiters by lock id. */
    private final Map<String, SimulatedWaiter> waiters = new HashMap<>();

    SimulatedWakeUps(SimulatedTime time, Bug bug) {
        this.time = time;
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

    /** Sends the messages, each of which may get lost. */
    void send(List<WakeUp> messages) {
        for (WakeUp message : messages) {
            if (time.random(100) < 95) {
                time.later(
                        time.now(),
                        time.random(10),
                        () -> waiters.get(message.channel())
                                .receive(message, bug == Bug.FIRST_LEASES_COUNT_FROM_THE_MESSAGE));
            }
        }
    }
}
