package io.syncguard.benchmarks;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The common parts of the measurements of one run: one server, two other processes, the rounds, the report. Used by one
 * thread.
 */
final class Arena implements AutoCloseable {

    private final Store store;
    private final Server server;
    private final Map<Peer, String> urls = new EnumMap<>(Peer.class);
    private final Rounds rounds;
    private final Report report;
    private @Nullable Contenders contenders;
    private @Nullable TwoProcesses processes;

    Arena(Store store, Rounds rounds, Report report) throws IOException {
        this.store = store;
        this.server = store.start();
        this.rounds = rounds;
        this.report = report;
    }

    Store store() {
        return store;
    }

    Server server() {
        return server;
    }

    /** The server of the run, for measurements that only exist on PostgreSQL. */
    PostgresServer postgres() {
        if (server instanceof PostgresServer postgres) {
            return postgres;
        }
        throw new IllegalStateException("This is " + server.description());
    }

    /** The same for MariaDB. */
    MariaDbServer mariaDb() {
        if (server instanceof MariaDbServer mariaDb) {
            return mariaDb;
        }
        throw new IllegalStateException("This is " + server.description());
    }

    /** The candidates of the comparison. */
    List<Peer> peers() {
        return Peer.of(store);
    }

    Rounds rounds() {
        return rounds;
    }

    Report report() {
        return report;
    }

    /** The database of a contender. */
    String url(Peer peer) {
        return urls.computeIfAbsent(peer, server::newDatabase);
    }

    /** Opens all contenders in this process. */
    Contenders contenders() {
        if (contenders == null) {
            contenders = new Contenders(this);
        }
        return contenders;
    }

    /** Two other processes, which start at the first call. */
    TwoProcesses processes() throws IOException {
        if (processes == null) {
            processes = new TwoProcesses(this, Peer.waitingIn(store));
        }
        return processes;
    }

    @Override
    public void close() throws IOException {
        if (contenders != null) {
            contenders.close();
        }
        if (processes != null) {
            processes.close();
        }
        server.close();
    }
}
