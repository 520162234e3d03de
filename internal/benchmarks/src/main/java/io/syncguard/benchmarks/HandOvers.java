package io.syncguard.benchmarks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The hand-overs of a key.
 *
 * @param bodies number of bodies that ran under the lock
 * @param toOthers number of bodies whose predecessor ran on another thread: a thread that acquires the key again at
 *     once hands nothing over
 * @param across number of bodies whose predecessor ran in the other process
 */
record HandOvers(int bodies, int toOthers, int across) {

    private record Turn(Body body, int process) {}

    /** Merges the bodies of two processes, and checks that no two bodies ran at the same time. */
    static HandOvers of(List<Body> one, List<Body> other) {
        List<Turn> turns = new ArrayList<>();
        one.forEach(body -> turns.add(new Turn(body, 1)));
        other.forEach(body -> turns.add(new Turn(body, 2)));
        turns.sort(Comparator.comparingLong(turn -> turn.body().began()));
        int toOthers = 0;
        int across = 0;
        for (int i = 1; i < turns.size(); i++) {
            Turn before = turns.get(i - 1);
            Turn turn = turns.get(i);
            requireOrder(before.body().ended(), turn.body().began());
            boolean otherProcess = before.process() != turn.process();
            across += otherProcess ? 1 : 0;
            toOthers += otherProcess || before.body().thread() != turn.body().thread() ? 1 : 0;
        }
        return new HandOvers(turns.size(), toOthers, across);
    }

    /** Checks that one body had ended when the next began. */
    static void requireOrder(long ended, long began) {
        if (began < ended) {
            throw new IllegalStateException("Two bodies ran at the same time, for " + (ended - began) + " ns");
        }
    }
}
