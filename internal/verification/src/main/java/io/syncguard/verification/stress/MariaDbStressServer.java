package io.syncguard.verification.stress;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.CallerBatching;
import io.syncguard.portable.MySqlDialect;
import io.syncguard.portable.PortableSchema;
import io.syncguard.portable.PortableScript;
import io.syncguard.portable.PortableTables;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.RedisProxy;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.StressStore;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The portable store in a database of MariaDB. The applications have their data in PostgreSQL. */
final class MariaDbStressServer implements StressServer {

    private final Surroundings surroundings;
    private final boolean replayed;
    private final String url = MariaDbServer.newDatabaseUrl();
    private final SingleConnectionDataSource connection = new SingleConnectionDataSource(url, true);
    private final JdbcTemplate jdbc = new JdbcTemplate(connection);
    private final String address = URI.create(url.substring("jdbc:".length())).getAuthority();

    /** It forwards the bytes of any protocol. */
    private final RedisProxy proxy = new RedisProxy("redis://" + address);

    MariaDbStressServer(Surroundings surroundings) {
        this(surroundings, false);
    }

    /** A server for a run that is replayed on the model, which has no permits. */
    static MariaDbStressServer forReplay(Surroundings surroundings) {
        return new MariaDbStressServer(surroundings, true);
    }

    private MariaDbStressServer(Surroundings surroundings, boolean replayed) {
        this.surroundings = surroundings;
        this.replayed = replayed;
        new PortableSchema(connection, new PortableScript(new MySqlDialect(), PortableTables.DEFAULT), null)
                .initialize(List::of);
    }

    @Override
    public String url(int process) {
        return process % 2 == 0
                ? url
                : url.replace(address, URI.create(proxy.url()).getAuthority());
    }

    @Override
    public List<String> properties(int process) {
        // The processes use different batching on the same keys.
        CallerBatching batching = CallerBatching.values()[process % CallerBatching.values().length];
        List<String> properties = new ArrayList<>(List.of(
                "spring.datasource.url=" + surroundings.url(),
                ApplicationBackend.BATCHING + "=" + batching,
                StressClient.PERMITTED + "=" + !replayed));
        if (replayed) {
            properties.add(ApplicationBackend.KEEPS_TIME + "=true");
        }
        return properties;
    }

    /** The first lease after a hand-over is as long as the process that releases says, so all say the same. */
    @Override
    public List<Duration> waiterTtls() {
        return List.of(WorkerFleet.WAITER_TTLS.get(1));
    }

    @Override
    public StressStore store() {
        return StressStore.inMariaDb(jdbc);
    }

    @Override
    public List<Disturbance> disturbances(HistoryRecorder recorder, Random random) {
        TransactionTemplate transactions = new TransactionTemplate(new JdbcTransactionManager(connection));
        // One thread, because it has one connection, which it does not end.
        return List.of(
                new Disturbance(15, new MariaDbFaults(jdbc, transactions, store(), proxy, recorder, random)::any));
    }

    @Override
    public Set<String> ownEvents() {
        return Set.of("SERIALISED OK");
    }

    @Override
    public void close() {
        proxy.close();
        connection.destroy();
    }
}
