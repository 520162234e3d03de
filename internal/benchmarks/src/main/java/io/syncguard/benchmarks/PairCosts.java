package io.syncguard.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The cost of a pair of acquire and release on a free key, counted at the server. So it does not depend on the load of
 * the machine.
 */
final class PairCosts implements Measurement {

    private static final int PAIRS = 100;

    private static final int WARM_UP = 20;

    private static final int KEYS = 20;

    @Override
    public void run(Arena arena) throws Exception {
        Map<String, List<Double>> roundTrips = new LinkedHashMap<>();
        Map<String, List<Double>> flushes = new LinkedHashMap<>();
        for (Peer peer : arena.peers()) {
            measure(arena.postgres(), peer, roundTrips, flushes);
        }
        arena.report().title("free key, 1 thread: round trips per pair");
        roundTrips.forEach(arena.report()::add);
        arena.report().title("free key, 1 thread: flushes of the WAL per pair");
        flushes.forEach(arena.report()::add);
    }

    private static void measure(
            PostgresServer server, Peer peer, Map<String, List<Double>> roundTrips, Map<String, List<Double>> flushes)
            throws Exception {
        String database = peer.database() + "_costs";
        String url = server.newCountedDatabase(peer, database);
        prepare(server, peer, database, url);
        long flushesBefore = server.flushes();
        double trips = openAndRun(server, peer, database, url);
        roundTrips.put(peer.label(), List.of(trips));
        flushes.put(peer.label(), List.of((double) (server.flushes() - flushesBefore) / (WARM_UP + PAIRS)));
    }

    /** Runs one pair for each key before the count: these first pairs also create tables and rows for the keys. */
    private static void prepare(PostgresServer server, Peer peer, String database, String url) throws Exception {
        try (Contender contender = peer.open(url)) {
            run(contender, KEYS);
        }
        server.awaitEndOfSessions(database);
    }

    /** Runs pairs, waits until their sessions have ended, and returns the round trips of a pair. */
    private static double openAndRun(PostgresServer server, Peer peer, String database, String url) throws Exception {
        double trips;
        try (Contender contender = peer.open(url)) {
            run(contender, WARM_UP);
            long before = server.roundTrips(database);
            run(contender, PAIRS);
            trips = (double) (server.roundTrips(database) - before) / PAIRS;
        }
        server.awaitEndOfSessions(database);
        return trips;
    }

    private static void run(Contender contender, int pairs) throws Exception {
        for (int pair = 0; pair < pairs; pair++) {
            contender.pair("key-" + pair % KEYS);
        }
    }
}
