package io.syncguard.verification.matrix;

import io.syncguard.testing.PgBouncer;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;

/** A PostgreSQL behind a PgBouncer that lends a session for one transaction, for locks and applications alike. */
final class PoolerSite implements Site {

    private final PostgresSite behind;
    private final PgBouncer pooler;
    private final List<FaultyLink> links = new ArrayList<>();

    /** Skips the campaign if PgBouncer is not installed. */
    PoolerSite(int processes) {
        PgBouncer.assumeInstalled();
        this.behind = new PostgresSite(processes);
        this.pooler = PgBouncer.poolingTransactions(
                PostgresSite.url(behind.server().port()),
                "default_pool_size = 20",
                "max_client_conn = 500",
                // By default PgBouncer waits 15 seconds after a failed connection.
                "server_login_retry = 1");
        for (int i = 0; i < processes; i++) {
            links.add(new FaultyLink(pooler.port()));
        }
    }

    PostgresSite behind() {
        return behind;
    }

    List<FaultyLink> links() {
        return links;
    }

    @Override
    public String description() {
        return behind.description() + " behind PgBouncer in transaction mode";
    }

    @Override
    public List<String> properties(int process) {
        return Stream.concat(
                        behind.properties(process).stream().filter(each -> !each.startsWith("spring.datasource.url")),
                        Stream.of(
                                "spring.datasource.url="
                                        + PostgresSite.url(links.get(process % links.size())
                                                .port()),
                                // PgBouncer before 1.21 does not support prepared statements.
                                "spring.datasource.hikari.data-source-properties.prepareThreshold=0"))
                .toList();
    }

    @Override
    public List<Kind> kinds() {
        return behind.kinds();
    }

    @Override
    public JdbcTemplate applications() {
        return behind.applications();
    }

    @Override
    public StressStore store() {
        return behind.store();
    }

    @Override
    public long connections() {
        return links.stream().mapToLong(FaultyLink::connections).sum();
    }

    @Override
    public void close() throws IOException {
        links.forEach(FaultyLink::close);
        pooler.close();
        behind.close();
    }
}
