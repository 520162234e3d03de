package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.matrix.FaultyLink.Way;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/** A primary and a standby. The standby takes over when the primary is killed, and then gets a new standby itself. */
final class StandbySite implements Site {

    private static final String NAME = "standby";

    private final boolean synchronous;
    private final List<FaultyLink> links = new ArrayList<>();
    private FaultyLink replication;
    private OwnPostgres primary;
    private OwnPostgres standby;

    StandbySite(int processes, boolean synchronous) {
        this.synchronous = synchronous;
        this.primary = new OwnPostgres(PostgresSite.DURABLE);
        PostgresSite.prepare(primary.jdbc(), List.of());
        for (int i = 0; i < processes; i++) {
            links.add(new FaultyLink(primary.port()));
        }
        follow();
    }

    /** Gives the primary a standby. When this returns, the standby has everything. */
    private void follow() {
        replication = new FaultyLink(primary.port());
        standby = primary.newStandby(replication.port());
        if (synchronous) {
            primary.jdbc().execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
            primary.jdbc().queryForObject("SELECT pg_reload_conf()", Boolean.class);
        }
        Awaitility.await("the standby")
                .until(() -> !primary.jdbc()
                        .queryForList(
                                "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = ?",
                                synchronous ? "sync" : "async")
                        .isEmpty());
    }

    /** The primary dies, and the standby takes over. An asynchronous one has not received the last writes. */
    Fault promotion() {
        return Fault.crash(10, "the primary is killed, and its standby is promoted", this::promote)
                .everyNth(2);
    }

    private void promote(Random random) throws IOException {
        if (!synchronous) {
            replication.drop(Way.ANSWERS);
            LinkFaults.pause(random, 50, 400);
        }
        primary.kill();
        replication.close();
        standby.promote();
        primary.close();
        primary = standby;
        links.forEach(link -> link.leadTo(primary.port()));
        follow();
    }

    @Override
    public String description() {
        return PostgresSite.version(primary.jdbc()) + " with " + (synchronous ? "a synchronous " : "an asynchronous ")
                + NAME;
    }

    @Override
    public List<String> properties(int process) {
        return List.of(
                "spring.datasource.url="
                        + PostgresSite.url(links.get(process % links.size()).port()),
                "syncguard.fences=" + (synchronous ? "counter" : "clock"),
                "syncguard.postgres.network-timeout=" + NETWORK_TIMEOUT_MILLIS + "ms");
    }

    @Override
    public List<Kind> kinds() {
        return WITH_ALL_GUARDS;
    }

    @Override
    public JdbcTemplate applications() {
        return primary.jdbc();
    }

    @Override
    public StressStore store() {
        return StressStore.of(primary.jdbc());
    }

    @Override
    public long connections() {
        return primary.jdbc()
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity WHERE usename = ?", Long.class, PostgresSite.USER);
    }

    @Override
    public void close() throws IOException {
        links.forEach(FaultyLink::close);
        replication.close();
        standby.close();
        primary.close();
    }
}
