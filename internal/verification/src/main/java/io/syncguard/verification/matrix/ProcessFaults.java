package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.FaultyLink.Way;
import io.syncguard.verification.matrix.Fleet.Load;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Faults of the processes. */
final class ProcessFaults {

    private static final long MILLI = 1_000_000;
    private static final long TOLERANCE_MILLIS = 1000;

    private final Fleet fleet;
    private final long ttlMillis;

    ProcessFaults(Fleet fleet, Load load) {
        this.fleet = fleet;
        this.ttlMillis = load.ttlMillis();
    }

    /** @param links the links to the server, one for each process */
    List<Fault> onLinks(List<FaultyLink> links) {
        return List.of(
                Fault.of(
                                1,
                                "a process is killed when the server has acted, before the answer",
                                random -> killBeforeAnswer(random, links))
                        .everyNth(2),
                Fault.of(
                                16,
                                "a process is asked to end while its server is slow",
                                random -> terminateWhileSlow(random, links))
                        .everyNth(2));
    }

    private void killBeforeAnswer(Random random, List<FaultyLink> links) throws Exception {
        int victim = fleet.mortal(random);
        FaultyLink link = links.get(victim);
        link.drop(Way.ANSWERS);
        LinkFaults.pause(random, 5, 60);
        fleet.kill(victim);
        link.heal();
        fleet.replace(victim);
    }

    private void terminateWhileSlow(Random random, List<FaultyLink> links) throws Exception {
        int victim = fleet.mortal(random);
        FaultyLink link = links.get(victim);
        link.delay((ttlMillis / 10 + random.nextLong(ttlMillis)) * MILLI);
        LinkFaults.pause(random, 5, 60);
        fleet.terminate(victim);
        link.heal();
        fleet.replace(victim);
    }

    List<Fault> all() {
        List<Fault> faults = new ArrayList<>(List.of(
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
                Fault.of(20, "all processors are busy", random -> tell(random, Shop.SPIN, 1000))));
        if (Processors.canBeAssigned()) {
            faults.add(Fault.of(20, "all processes share one processor, and it is busy", this::starve)
                    .everyNth(2));
        } else {
            System.out.println("No processes that share one processor: that needs Linux, and taskset of util-linux");
        }
        return faults;
    }

    private void pause(Random random) throws Exception {
        fleet.paused(random.nextInt(fleet.size()), () -> outliveLeases(random));
    }

    private void collectGarbage(Random random) throws Exception {
        fleet.collectingGarbage(random.nextInt(fleet.size()), () -> outliveLeases(random));
    }

    /** Pauses for longer than the ttl and the tolerance, so that another process holds the lock in the meantime. */
    private void outliveLeases(Random random) {
        LinkFaults.pause(random, ttlMillis, ttlMillis + 2 * TOLERANCE_MILLIS);
    }

    private void starve(Random random) throws Exception {
        fleet.onOneProcessor(() -> tell(random, Shop.SPIN, 1000));
    }

    private void tell(Random random, String command, long mostMillis) throws Exception {
        long millis = mostMillis / 3 + random.nextLong(mostMillis * 2 / 3);
        fleet.get(random.nextInt(fleet.size())).deliver(command + " " + millis);
        LinkFaults.pause(random, millis, millis + 10);
    }
}
