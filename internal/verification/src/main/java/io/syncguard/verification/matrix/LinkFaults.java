package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.FaultyLink.Way;
import io.syncguard.verification.matrix.Fleet.Load;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Faults of the network between the processes and their server. */
final class LinkFaults {

    private static final long MILLI = 1_000_000;

    private final List<FaultyLink> links;
    private final long ttlMillis;

    LinkFaults(List<FaultyLink> links, Load load) {
        this.links = links;
        this.ttlMillis = load.ttlMillis();
    }

    List<Fault> all() {
        return List.of(
                Fault.of(4, "connections reset", random -> any(random).reset()),
                Fault.of(4, "nothing arrives in either direction", random -> drop(random, Way.REQUESTS, Way.ANSWERS))
                        .everyNth(4),
                Fault.of(4, "requests do not arrive", random -> drop(random, Way.REQUESTS))
                        .everyNth(4),
                Fault.of(4, "answers do not arrive", random -> drop(random, Way.ANSWERS))
                        .everyNth(4),
                Fault.of(4, "connections are refused", this::refuse).everyNth(2),
                Fault.of(5, "an answer is lost after the server has acted", this::loseAnswer),
                Fault.of(6, "a delay of half to twice the ttl, with jitter", this::delay)
                        .everyNth(2),
                Fault.of(6, "1 KB/s", this::limit).everyNth(2));
    }

    private FaultyLink any(Random random) {
        return links.get(random.nextInt(links.size()));
    }

    /** Drops bytes for about one ttl. */
    private void drop(Random random, Way... ways) {
        FaultyLink link = any(random);
        link.drop(ways);
        pause(random, ttlMillis / 3, 2 * ttlMillis);
        link.heal();
    }

    private void refuse(Random random) {
        FaultyLink link = any(random);
        link.refuse();
        pause(random, 50, ttlMillis);
        link.heal();
    }

    private void loseAnswer(Random random) {
        FaultyLink link = any(random);
        link.loseNextAnswer();
        while (!link.hasLostAnswer()) {
            LockSupport.parkNanos(MILLI);
        }
    }

    private void delay(Random random) {
        FaultyLink link = any(random);
        long until = System.nanoTime() + ttlMillis * MILLI;
        while (System.nanoTime() < until) {
            link.delay((ttlMillis / 2 + random.nextLong(ttlMillis * 3 / 2)) * MILLI);
            pause(random, 50, 200);
        }
        link.heal();
    }

    private void limit(Random random) {
        FaultyLink link = any(random);
        link.limit(1024);
        pause(random, ttlMillis, 2 * ttlMillis);
        link.heal();
    }

    static void pause(Random random, long leastMillis, long mostMillis) {
        LockSupport.parkNanos((leastMillis + random.nextLong(mostMillis - leastMillis)) * MILLI);
    }
}
