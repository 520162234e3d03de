package io.syncguard.verification.stress;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.postgres.PostgresBatching;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.StressStore;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Tables in the database of the applications. Some commits that grant a lock are slow, like those that wait for a busy
 * disk or a standby.
 */
final class PostgresStressServer implements StressServer {

    private static final String SLOW_COMMITS = """
            -- Runs at the commit, when the clock was read and nobody can see the grant yet.
            CREATE FUNCTION stress_slow_commit() RETURNS TRIGGER LANGUAGE plpgsql AS $function$
            BEGIN
                PERFORM pg_sleep(CASE WHEN random() < 0.1 THEN 0.7 ELSE 0.03 + 0.1 * random() END);
                RETURN NULL;
            END
            $function$;
            CREATE CONSTRAINT TRIGGER stress_slow_commit AFTER INSERT ON syncguard_locks DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (random() < 0.01) EXECUTE FUNCTION stress_slow_commit();
            """;

    private final Surroundings surroundings;
    private final FenceSource fences;
    private final boolean replayed;
    private final JdbcTemplate jdbc;
    private final PostgresProxy proxy;

    PostgresStressServer(Surroundings surroundings) {
        this(surroundings, FenceSource.COUNTER);
    }

    /** A server for a run that is replayed on the model, which has no permits. */
    static PostgresStressServer forReplay(Surroundings surroundings) {
        return new PostgresStressServer(surroundings, FenceSource.COUNTER, true);
    }

    /** @param fences if they come from the clock, the run deletes counters that are idle for a millisecond */
    PostgresStressServer(Surroundings surroundings, FenceSource fences) {
        this(surroundings, fences, false);
    }

    private PostgresStressServer(Surroundings surroundings, FenceSource fences, boolean replayed) {
        this.surroundings = surroundings;
        this.fences = fences;
        this.replayed = replayed;
        this.jdbc = new JdbcTemplate(surroundings.dataSource());
        new PostgresSchema(surroundings.dataSource(), PostgresTables.DEFAULT, fences).initialize();
        jdbc.execute(SLOW_COMMITS);
        this.proxy = new PostgresProxy(surroundings.url());
    }

    @Override
    public String url(int process) {
        return process % 2 == 0 ? surroundings.url() : proxy.url();
    }

    @Override
    public List<String> properties(int process) {
        // The processes use different batching on the same keys.
        PostgresBatching batching = PostgresBatching.values()[process % PostgresBatching.values().length];
        return List.of(
                "spring.datasource.url=" + url(process),
                ApplicationBackend.BATCHING + "=" + batching,
                StressClient.PERMITTED + "=" + !replayed,
                StressClient.COMMITS + "=true",
                "syncguard.fences=" + fences);
    }

    @Override
    public StressStore store() {
        return StressStore.of(jdbc);
    }

    @Override
    public List<Disturbance> disturbances(HistoryRecorder recorder, Random random) {
        TransactionTemplate transactions =
                new TransactionTemplate(new JdbcTransactionManager(surroundings.dataSource()));
        PostgresFaults faults = new PostgresFaults(jdbc, transactions, proxy, recorder, random);
        return Stream.concat(
                        // Several threads, because each waits most of the time.
                        Collections.nCopies(3, new Disturbance(40, faults::any)).stream(),
                        Stream.of(new Disturbance(20, faults::sweep), new Disturbance(10, faults::forget)))
                .toList();
    }

    @Override
    public Set<String> ownEvents() {
        return Set.of("PINNED OK", "SERIALISED OK");
    }

    @Override
    public void close() {
        proxy.close();
    }
}
