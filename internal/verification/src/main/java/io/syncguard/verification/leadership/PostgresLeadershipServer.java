package io.syncguard.verification.leadership;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.ServerProxy;
import java.io.IOException;

/** A separate PostgreSQL for the run. */
final class PostgresLeadershipServer implements LeadershipServer {

    private final OwnPostgres server = new OwnPostgres();

    @Override
    public ServerProxy newProxy() {
        return new PostgresProxy(server.url());
    }

    @Override
    public int waiters() {
        return server.jdbc()
                .queryForObject(
                        "SELECT count(*) FROM syncguard_locks_waiters WHERE expires_at_ms > syncguard_locks_now()",
                        Integer.class);
    }

    @Override
    public void stop() {
        server.stop();
    }

    @Override
    public void start() {
        server.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
