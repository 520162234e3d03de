package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.FaultyLink.Way;
import io.syncguard.verification.matrix.Fleet.Load;
import java.util.List;
import java.util.Random;

/** Faults of the processes. */
final class ProcessFaults {

    private static final long TOLERANCE_MILLIS = 1000;

    private final Fleet fleet;
    private final long ttlMillis;

    ProcessFaults(Fleet fleet, Load load) {
        this.fleet = fleet;
        this.ttlMillis = load.ttlMillis();
    }

    /** @param links to the server, one for each process */
    Fault killBeforeAnswer(List<FaultyLink> links) {
        return Fault.of(1, "a process is killed when the server has acted, before the answer", random -> {
                    int victim = fleet.mortal(random);
                    FaultyLink link = links.get(victim);
                    link.drop(Way.ANSWERS);
                    LinkFaults.pause(random, 5, 60);
                    fleet.kill(victim);
                    link.heal();
                    fleet.replace(victim);
                })
                .everyNth(2);
    }

    List<Fault> all() {
        return List.of(
                Fault.of(1, "a process is killed", random -> fleet.killAndReplace(fleet.mortal(random)))
                        .everyNth(2),
                Fault.of(2, "a process is paused for longer than its leases", this::pause),
                Fault.of(2, "the garbage collection of a process takes longer than its leases", this::collectGarbage)
                        .everyNth(4),
                Fault.of(7, "the application's connections are all in use", random -> tell(random, Shop.EXHAUST, 1500)),
                Fault.of(15, "clients are interrupted, wherever they are", random -> tell(random, Shop.INTERRUPT, 300)),
                Fault.of(
                        16,
                        "a process is asked to end while it holds locks",
                        random -> fleet.terminateAndReplace(fleet.mortal(random))),
                Fault.of(20, "all processors are busy", random -> tell(random, Shop.SPIN, 1000)));
    }

    private void pause(Random random) throws Exception {
        fleet.paused(random.nextInt(fleet.size()), () -> outliveLeases(random));
    }

    private void collectGarbage(Random random) throws Exception {
        fleet.collectingGarbage(random.nextInt(fleet.size()), () -> outliveLeases(random));
    }

    /** Longer than the ttl and the tolerance, so that another process holds the lock before this one goes on. */
    private void outliveLeases(Random random) {
        LinkFaults.pause(random, ttlMillis, ttlMillis + 2 * TOLERANCE_MILLIS);
    }

    private void tell(Random random, String command, long mostMillis) throws Exception {
        long millis = mostMillis / 3 + random.nextLong(mostMillis * 2 / 3);
        fleet.get(random.nextInt(fleet.size())).deliver(command + " " + millis);
        LinkFaults.pause(random, millis, millis + 10);
    }
}
