package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The cost of a pair of acquire and release on a free key of MariaDB. It does not depend on the load of the machine.
 */
final class MariaDbCosts implements Measurement {

    private static final int PAIRS = 100;

    private static final int KEYS = 20;

    /** @param flushes of the log of all sessions */
    private record Cost(double roundTrips, double statements, double flushes) {}

    @Override
    public void run(Arena arena) throws Exception {
        Map<String, List<Cost>> costs = new LinkedHashMap<>();
        for (Peer peer : arena.peers()) {
            String url = arena.url(peer) + "&socketFactory=" + CountingSockets.class.getName();
            try (Contender contender = peer.open(url)) {
                // The first pair of a key also makes its row.
                run(contender, KEYS);
                costs.put(peer.label(), List.of(cost(arena.mariaDb(), contender)));
            }
        }
        String title = "free key, 1 thread: ";
        arena.report().title(title + "round trips per pair");
        Report.figures(costs, Cost::roundTrips).forEach(arena.report()::add);
        arena.report().title(title + "statements per pair");
        Report.figures(costs, Cost::statements).forEach(arena.report()::add);
        arena.report().title(title + "flushes per pair");
        Report.figures(costs, Cost::flushes).forEach(arena.report()::add);
    }

    private static Cost cost(MariaDbServer server, Contender contender) throws Exception {
        long trips = CountingSockets.roundTrips();
        long statements = server.statements();
        long flushes = server.flushes();
        run(contender, PAIRS);
        return new Cost(
                (double) (CountingSockets.roundTrips() - trips) / PAIRS,
                (double) (server.statements() - statements) / PAIRS,
                (double) (server.flushes() - flushes) / PAIRS);
    }

    private static void run(Contender contender, int pairs) throws Exception {
        for (int pair = 0; pair < pairs; pair++) {
            contender.pair("key-" + pair % KEYS);
        }
    }
}
